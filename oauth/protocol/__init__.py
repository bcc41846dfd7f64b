"""Protocol values: parameters, redirect URIs, scopes and token formats."""
