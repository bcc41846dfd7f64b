"""MFA devices: passkeys and recovery codes.

Authenticator apps are django-otp's TOTPDevice. ``User.second_factor_since`` says whether a user has MFA.
"""

from typing import Self
from uuid import UUID

from django.db import models

from companies.models.tenancy import Unowned, generate_id
from companies.models.users import User

MAX_CREDENTIAL_ID_BYTES = 1023  # bytes; Web Authentication, section 4, "Credential ID"


class PasskeyQuerySet(models.QuerySet["Passkey"]):
    def for_user(self, user_id: UUID) -> Self:
        return self.filter(user_id=user_id)


class Passkey(Unowned):
    """A passkey of a user; only its public key is stored."""

    id = models.UUIDField(primary_key=True, default=generate_id, editable=False)
    user = models.ForeignKey(User, models.CASCADE, related_name="passkeys")
    name = models.CharField(max_length=100)
    credential_id = models.BinaryField(max_length=MAX_CREDENTIAL_ID_BYTES, unique=True)
    public_key = models.BinaryField()  # COSE
    sign_count = models.PositiveBigIntegerField()  # 0 for devices that do not count, such as synced passkeys
    created_time = models.DateTimeField()
    last_used_time = models.DateTimeField(null=True)

    objects = PasskeyQuerySet.as_manager()

    def __str__(self) -> str:
        return self.name


class RecoveryCodeQuerySet(models.QuerySet["RecoveryCode"]):
    def for_user(self, user_id: UUID) -> Self:
        return self.filter(user_id=user_id)


class RecoveryCode(Unowned):
    """One of ten single-use recovery codes; deleted when used."""

    id = models.UUIDField(primary_key=True, default=generate_id, editable=False)
    user = models.ForeignKey(User, models.CASCADE, related_name="recovery_codes", db_index=False)
    digest = models.BinaryField()  # HMAC-SHA256 with the server's pepper, of 120 random bits

    objects = RecoveryCodeQuerySet.as_manager()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["user", "digest"], name="recovery_code_once")]

    def __str__(self) -> str:
        return f"a code of {self.user_id}"
