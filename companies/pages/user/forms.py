"""Forms for sign-in and passwords; all other forms use the API's serializers."""

from typing import Any

from django import forms
from django.contrib.auth import authenticate
from django.contrib.auth.forms import PasswordChangeForm, SetPasswordForm
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from companies.auth.password_validators import MAX_PASSWORD_LENGTH
from companies.locales import get_current_locale
from companies.models import User
from companies.names import validate_one_line

SIGN_OUT_APPS_LABEL = gettext_lazy("Also sign out connected apps")


class NameField(forms.CharField):
    """A name; Django trims it."""

    default_validators = [validate_one_line]


class SignInForm(forms.Form):
    username = forms.CharField(max_length=254, strip=True)
    password = forms.CharField(max_length=MAX_PASSWORD_LENGTH, strip=False)

    def __init__(self, request: Any, *args: Any, **kwargs: Any):
        self.request, self.user = request, None
        super().__init__(*args, **kwargs)

    def clean(self) -> dict[str, Any]:
        data = super().clean() or {}
        if data.get("username") and data.get("password"):
            self.user = authenticate(  # type: ignore[assignment]
                self.request, username=data["username"], password=data["password"]
            )
        if self.user is None:
            raise forms.ValidationError(_("Incorrect email address or password."))
        return data


class NewPasswordForm(PasswordChangeForm):
    """Django's password change form; a wrong old password counts as a failed sign-in."""

    sign_out_apps = forms.BooleanField(required=False, label=SIGN_OUT_APPS_LABEL)

    def __init__(self, request: Any, user: User, *args: Any, **kwargs: Any):
        self.request = request
        super().__init__(user, *args, **kwargs)

    def clean_old_password(self) -> str:
        old = str(self.cleaned_data["old_password"])
        if authenticate(self.request, username=self.user.email, password=old) != self.user:
            raise forms.ValidationError(self.error_messages["password_incorrect"])
        return old


class FirstPasswordForm(SetPasswordForm):
    """Django's form behind a password reset link."""

    sign_out_apps = forms.BooleanField(required=False, initial=True, label=SIGN_OUT_APPS_LABEL)


class InvitedUserForm(SetPasswordForm):
    """Name and password of a new user. The password is typed once: the page can show it."""

    name = NameField(required=False, max_length=200)
    new_password2 = None  # type: ignore[assignment]

    def clean(self) -> dict[str, Any]:
        data = super().clean() or {}
        self.validate_password_for_user(self.user, "new_password1")
        return data

    def build_user(self) -> User:
        """Return the user with the entered name and password, and the browser's locale, not saved yet."""
        self.user.name = self.cleaned_data["name"] or self.user.name
        self.user.locale = self.user.locale or get_current_locale().tag
        self.user.set_password(self.cleaned_data["new_password1"])
        return self.user
