"""What people see of their own account: where it is signed in, and what happened to it."""
