/* Says whether a request that a receiver got is one of the webhook, and what is wrong when it is not. */
import { Button, Group, Stack, Text, Textarea } from '@mantine/core'
import { useForm } from '@mantine/form'
import { postWebhooksByIdCheckSignature } from '../api/generated/sdk.gen.ts'
import type { CheckedWebhookSignature, Webhook } from '../api/generated/types.gen.ts'
import { Fault } from '../kit/confirm.tsx'
import { Facts, Section } from '../kit/page.tsx'
import { StateBadge } from '../kit/tone.tsx'
import { useAction } from '../kit/use-action.ts'
import { parseHeaders } from './parse-headers.ts'
import { texts } from './texts.ts'

const { signatureTab: words } = texts

const AS_RECEIVED = {
  autosize: true,
  required: true,
  spellCheck: false,
  styles: { input: { fontFamily: 'var(--helio-mono)', fontSize: '0.78125rem' } },
} as const

export function SignatureTab({ webhook }: { readonly webhook: Webhook }) {
  const form = useForm({
    initialValues: { headers: '', body: '' },
    validate: {
      headers: (text) => (parseHeaders(text) === undefined ? texts.form.headersFault : null),
    },
  })
  const check = useAction({
    run: async ({ headers, body }: typeof form.values) => {
      const received = { headers: { ...parseHeaders(headers) }, body }
      const request = { path: { id: webhook.id }, body: received, throwOnError: true } as const
      return (await postWebhooksByIdCheckSignature(request)).data
    },
    changes: [],
    showsFailure: true,
  })
  return (
    <Section title={words.title} lead={words.lead}>
      <form onSubmit={form.onSubmit((values) => check.mutate(values))}>
        <Stack>
          <Textarea
            label={words.headers}
            description={words.headersHelp}
            minRows={3}
            maxRows={10}
            {...AS_RECEIVED}
            {...form.getInputProps('headers')}
          />
          <Textarea
            label={words.body}
            minRows={4}
            maxRows={14}
            {...AS_RECEIVED}
            {...form.getInputProps('body')}
          />
          <Fault error={check.error} />
          {check.data === undefined ? null : <Verdict found={check.data} />}
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

const TONES = { passed: 'good', failed: 'bad', warning: 'warn', skipped: 'unknown' } as const

function Verdict({ found: { valid, checks } }: { readonly found: CheckedWebhookSignature }) {
  return (
    <Stack gap="sm" role="status" align="flex-start">
      <StateBadge tone={valid ? 'good' : 'bad'}>{valid ? words.fits : words.fitsNot}</StateBadge>
      <Facts
        facts={checks.map(({ check, result, message }) => [
          words.checks[check],
          <div key={check}>
            <StateBadge tone={TONES[result]} isPlain>
              {words.results[result]}
            </StateBadge>
            <Text size="sm">{message}</Text>
          </div>,
        ])}
      />
    </Stack>
  )
}
