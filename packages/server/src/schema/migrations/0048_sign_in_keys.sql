-- The keys that sign ID tokens of signing in here, each with a certificate that it signs itself.

create table sign_in_key (
  kid text primary key,
  public_jwk jsonb not null,
  private_key_sealed bytea not null,
  -- DER, base64: the only member of x5c.
  certificate text not null,
  created_at timestamptz not null,
  -- Published before it signs, for as long as relying parties keep what they have read.
  active_from timestamptz not null,
  -- When it goes out of publication; null until another one takes over.
  retired_at timestamptz
);
