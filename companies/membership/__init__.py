"""Operations on companies, members and invitations."""
