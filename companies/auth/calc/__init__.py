"""Pure calculations of authentication: device names and MFA codes."""
