"""What goes over the wire: parameters, addresses to send people back to, scopes and tokens as texts."""
