"""Pure calculations of money: amounts, rounding, currency conversion."""
