/* Says whether a signature that a receiver got fits, and what is wrong when it does not. */
import {
  Button,
  Group,
  PasswordInput,
  SimpleGrid,
  Stack,
  Text,
  Textarea,
  TextInput,
} from '@mantine/core'
import { useForm } from '@mantine/form'
import { useMutation } from '@tanstack/react-query'
import type { Webhook } from '../api/generated/types.gen.ts'
import { Fault } from '../kit/confirm.tsx'
import { Section } from '../kit/page.tsx'
import { StateBadge } from '../kit/tone.tsx'
import { texts } from './texts.ts'
import { verifyWebhook, type SignatureVerdict } from './verify-webhook.ts'

const { signatureTab: words } = texts

export function SignatureTab({ webhook }: { readonly webhook: Webhook }) {
  const { public_key: publicKey } = webhook
  const form = useForm({
    initialValues: { id: '', timestamp: '', signature: '', body: '', secret: '' },
  })
  const check = useMutation({
    mutationFn: ({ secret, ...received }: typeof form.values) =>
      verifyWebhook(received, publicKey ?? secret.trim()),
    gcTime: 0,
  })
  return (
    <Section title={words.title} lead={words.lead}>
      <form onSubmit={form.onSubmit((values) => check.mutate(values))}>
        <Stack>
          <SimpleGrid cols={{ base: 1, sm: 2 }}>
            <TextInput label={words.id} required {...form.getInputProps('id')} />
            <TextInput label={words.timestamp} required {...form.getInputProps('timestamp')} />
          </SimpleGrid>
          <TextInput label={words.signature} required {...form.getInputProps('signature')} />
          <Textarea
            label={words.body}
            autosize
            minRows={4}
            maxRows={14}
            required
            spellCheck={false}
            styles={{ input: { fontFamily: 'var(--helio-mono)', fontSize: 12.5 } }}
            {...form.getInputProps('body')}
          />
          {publicKey === null ? (
            <PasswordInput
              label={words.secret}
              description={words.secretHelp}
              autoComplete="off"
              required
              maw={460}
              {...form.getInputProps('secret')}
            />
          ) : null}
          <Fault error={check.error} />
          {check.data === undefined ? null : <Verdict verdict={check.data} />}
          <Group>
            <Button type="submit" loading={check.isPending}>
              {words.check}
            </Button>
          </Group>
        </Stack>
      </form>
    </Section>
  )
}

const NOTES: Readonly<Record<SignatureVerdict, string | undefined>> = {
  verified: undefined,
  old: words.old,
  wrong: words.wrongHelp,
  'no-form': words.noForm,
  'bad-secret': words.badSecret,
  'no-crypto': words.noCrypto,
}

function Verdict({ verdict }: { readonly verdict: SignatureVerdict }) {
  const isGood = verdict === 'verified' || verdict === 'old'
  const note = NOTES[verdict]
  return (
    <Stack gap={4} role="status" align="flex-start">
      <StateBadge tone={verdict === 'verified' ? 'good' : isGood ? 'warn' : 'bad'}>
        {isGood ? words.verified : words.wrong}
      </StateBadge>
      {note === undefined ? null : <Text size="sm">{note}</Text>}
    </Stack>
  )
}
