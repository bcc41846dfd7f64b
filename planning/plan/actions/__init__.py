"""Actions on plan items and the grid."""
