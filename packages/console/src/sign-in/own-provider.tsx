/* The own account at the identity provider of the organisation: connected and disconnected. */
import { Button, Stack, Text } from '@mantine/core'
import { OrganizationIcon } from '@primer/octicons-react'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { AdminIdentity } from '../api/generated/types.gen.ts'
import { ConfirmDialog } from '../kit/confirm.tsx'
import { Section } from '../kit/page.tsx'
import { Time } from '../kit/time.tsx'
import { useAction } from '../kit/use-action.ts'
import classes from './account-page.module.css'
import { ProviderButton } from './provider-button.tsx'
import { disconnect, identitiesQuery, isConnected, providerQuery } from './provider-calls.ts'
import { texts } from './texts.ts'

/** Nothing while no provider is set up and no account is connected. */
export function OwnProviderSection() {
  const { data: name = null } = useQuery(providerQuery)
  const { data: identities = [], isSuccess } = useQuery(identitiesQuery)
  const [leaving, setLeaving] = useState<AdminIdentity>()
  if (!isSuccess || (name === null && identities.length === 0)) return null
  return (
    <Section title={texts.provider} lead={texts.providerLead}>
      <ul className={classes.list}>
        {identities.map((identity) => (
          <Identity
            key={identity.id}
            identity={identity}
            name={name}
            onDisconnect={() => setLeaving(identity)}
          />
        ))}
      </ul>
      {isConnected(identities) || name === null ? null : (
        <Stack align="flex-start" gap="xs">
          <Text c="dimmed" size="sm">
            {texts.notConnected}
          </Text>
          <ProviderButton purpose="connect" next="/console/settings/account" />
        </Stack>
      )}
      <DisconnectDialog identity={leaving} onClose={() => setLeaving(undefined)} />
    </Section>
  )
}

interface IdentityProps {
  readonly identity: AdminIdentity
  /** Of the provider that is set up. */
  readonly name: string | null
  readonly onDisconnect: () => void
}

function Identity({ identity, name, onDisconnect }: IdentityProps) {
  const { issuer, is_in_use: isInUse, created_at: createdAt, last_used_at: lastUsedAt } = identity
  return (
    <li>
      <OrganizationIcon />
      <div className={classes.grow}>
        <strong>{isInUse ? name : issuer}</strong>
        <Text size="xs" c="dimmed">
          {isInUse ? issuer : texts.oldProvider} · {texts.connected} <Time at={createdAt} />
          {lastUsedAt === null ? null : (
            <>
              {' '}
              · {texts.lastUsed} <Time at={lastUsedAt} />
            </>
          )}
        </Text>
      </div>
      <Button size="compact-sm" variant="subtle" onClick={onDisconnect}>
        {texts.disconnect}
      </Button>
    </li>
  )
}

interface DisconnectDialogProps {
  readonly identity: AdminIdentity | undefined
  readonly onClose: () => void
}

function DisconnectDialog({ identity, onClose }: DisconnectDialogProps) {
  const leave = useAction({
    run: disconnect,
    done: texts.disconnected,
    changes: [['session']],
    showsFailure: true,
    onDone: onClose,
  })
  return (
    <ConfirmDialog
      isOpen={identity !== undefined}
      title={texts.disconnectTitle(identity?.issuer ?? '')}
      label={texts.disconnectLabel}
      isDanger
      isPending={leave.isPending}
      error={leave.error}
      onConfirm={() => identity !== undefined && leave.mutate(identity)}
      onClose={onClose}
    >
      {texts.disconnectHelp}
    </ConfirmDialog>
  )
}
