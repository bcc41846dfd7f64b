"""What a person proves besides the password: passkeys, and codes on paper for when everything else is lost.

Authenticator apps are django-otp's TOTPDevice; ``User.second_factor_since`` says whether a person has any factor.
"""

from typing import Self
from uuid import UUID

from django.db import models

from companies.models.tenancy import Unowned, new_id
from companies.models.users import User

LONGEST_CREDENTIAL = 1023  # bytes; Web Authentication, section 4, "Credential ID"


class PasskeyQuerySet(models.QuerySet["Passkey"]):
    def of(self, user_id: UUID) -> Self:
        return self.filter(user_id=user_id)


class Passkey(Unowned):
    """A key that a device keeps for a person; what is kept here is public."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    user = models.ForeignKey(User, models.CASCADE, related_name="passkeys")
    name = models.CharField(max_length=100)
    credential_id = models.BinaryField(max_length=LONGEST_CREDENTIAL, unique=True)
    public_key = models.BinaryField()  # COSE
    sign_count = models.PositiveBigIntegerField()  # 0 where the device does not count, as those that copy keys
    created_time = models.DateTimeField()
    last_used_time = models.DateTimeField(null=True)

    objects = PasskeyQuerySet.as_manager()

    def __str__(self) -> str:
        return self.name


class RecoveryCodeQuerySet(models.QuerySet["RecoveryCode"]):
    def of(self, user_id: UUID) -> Self:
        return self.filter(user_id=user_id)


class RecoveryCode(Unowned):
    """One of ten that are shown once; it is deleted when it is used."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    user = models.ForeignKey(User, models.CASCADE, related_name="recovery_codes", db_index=False)
    digest = models.BinaryField()  # HMAC-SHA256 under the server's pepper: of 120 random bits, as of API keys

    objects = RecoveryCodeQuerySet.as_manager()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["user", "digest"], name="recovery_code_once")]

    def __str__(self) -> str:
        return f"a code of {self.user_id}"
