/* The issuer and the client that Heliograph is at the provider; the check says which of them is wrong. */
import { Alert, Button, Group, PasswordInput, Stack, Text, TextInput } from '@mantine/core'
import type { UseFormReturnType } from '@mantine/form'
import { CheckCircleIcon } from '@primer/octicons-react'
import { fieldFaultsOf } from '../api/client.ts'
import { Fault } from '../kit/confirm.tsx'
import { Section } from '../kit/page.tsx'
import { useAction } from '../kit/use-action.ts'
import { checkProvider, toClient, type Provider, type ProviderValues } from './provider-calls.ts'
import { texts } from './texts.ts'

interface ClientSectionProps {
  readonly form: UseFormReturnType<ProviderValues>
  /** What is stored. */
  readonly provider: Provider | null
  /** What the service has refused to save. */
  readonly faults: Readonly<Record<string, string>> | null
}

export function ClientSection({ form, provider, faults: refused }: ClientSectionProps) {
  const client = toClient(form.values)
  const isStored = provider?.issuer === client.issuer && provider.client_id === client.client_id
  const check = useAction({ run: checkProvider, changes: [], showsFailure: true })
  // A check says nothing of what was typed after it.
  const isCurrent = JSON.stringify(check.variables) === JSON.stringify(client)
  const found = isCurrent ? check.data : undefined
  const checkError = isCurrent ? check.error : null
  const faults: Readonly<Record<string, string | undefined>> = {
    ...refused,
    ...fieldFaultsOf(checkError),
    ...Object.fromEntries(found?.problems.map(({ field, message }) => [field, message]) ?? []),
  }
  return (
    <Section title={texts.provider}>
      <Stack>
        <TextInput
          label={texts.name}
          description={texts.nameHelp}
          required
          {...form.getInputProps('name')}
          error={faults['name']}
        />
        <TextInput
          label={texts.issuer}
          description={texts.issuerHelp}
          required
          spellCheck={false}
          {...form.getInputProps('issuer')}
          error={faults['issuer']}
        />
        <TextInput
          label={texts.clientId}
          required
          spellCheck={false}
          autoComplete="off"
          {...form.getInputProps('client_id')}
          error={faults['client_id']}
        />
        <PasswordInput
          label={texts.secret}
          description={
            provider === null ? texts.secretHelp : isStored ? texts.secretKept : texts.secretNeeded
          }
          required={!isStored}
          autoComplete="new-password"
          {...form.getInputProps('client_secret')}
          error={faults['client_secret']}
        />
        <Group gap="sm">
          <Button
            variant="default"
            loading={check.isPending}
            disabled={client.issuer === '' || client.client_id === ''}
            onClick={() => check.mutate(client)}
          >
            {texts.check}
          </Button>
          <Text size="xs" c="dimmed">
            {texts.checkHelp}
          </Text>
        </Group>
        {found?.problems.length === 0 ? (
          <Fits
            signatures={found.signatures}
            isSecretTried={isStored || client.client_secret !== undefined}
          />
        ) : null}
        <Fault error={fieldFaultsOf(checkError) === null ? checkError : null} />
      </Stack>
    </Section>
  )
}

interface FitsProps {
  readonly signatures: readonly string[]
  readonly isSecretTried: boolean
}

function Fits({ signatures, isSecretTried }: FitsProps) {
  return (
    <Alert color="green" icon={<CheckCircleIcon />} role="status" p="xs">
      {isSecretTried ? texts.fits(signatures.join(', ')) : texts.fitsWithoutSecret}
    </Alert>
  )
}
