"""Period close: closed months, their frozen figures, and what has changed since."""
