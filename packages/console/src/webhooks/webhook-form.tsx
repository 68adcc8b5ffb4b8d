/* The form of a webhook. */
import {
  Checkbox,
  NumberInput,
  Select,
  SimpleGrid,
  Stack,
  Textarea,
  TextInput,
} from '@mantine/core'
import { useForm, type UseFormReturnType } from '@mantine/form'
import { fieldFaultsOf } from '../api/client.ts'
import type { CreateWebhookInput, UpdateWebhookInput, Webhook } from '../api/generated/types.gen.ts'
import { changedMembers } from '../kit/changed-members.ts'
import { MeanwhileBar, useMeanwhile, type FieldWords } from '../kit/meanwhile.tsx'
import { PageForm, type PageFormProps } from '../kit/page-form.tsx'
import { Section } from '../kit/page.tsx'
import { useMay } from '../shell/session.ts'
import { EVENT_TYPES } from './event-types.ts'
import { parseHeaders } from './parse-headers.ts'
import { texts } from './texts.ts'
import { WEBHOOKS_PERMISSION } from './webhook-queries.ts'

const { form: words } = texts

interface FormValues {
  name: string
  url: string
  description: string
  events: string[]
  signing: NonNullable<CreateWebhookInput['signing']>
  rate: number | ''
  headersChoice: keyof typeof words.headersChoices
  headers: string
}

/** How the fields are told where another admin has changed them. */
const FIELD_WORDS: FieldWords<FormValues> = {
  name: { label: texts.name },
  url: { label: texts.url },
  description: { label: words.description },
  events: { label: words.events },
  signing: { label: words.signing, tell: (signing) => words.signings[signing] },
  rate: { label: words.rate, tell: (rate) => (rate === '' ? words.noLimit : String(rate)) },
  headersChoice: { label: words.headers, tell: (choice) => words.headersChoices[choice] },
  headers: { label: words.headers },
}

/** A new webhook, or the changes of one: what is left out stays as it is. */
type WebhookFormProps = PageFormProps &
  (
    | { readonly webhook?: never; readonly onSubmit: (input: CreateWebhookInput) => void }
    | { readonly webhook: Webhook; readonly onSubmit: (changes: UpdateWebhookInput) => void }
  )

export function WebhookForm(props: WebhookFormProps) {
  const { webhook, label, isPending, error, onCancel } = props
  const current = toValues(webhook)
  const form = useForm<FormValues>({
    initialValues: current,
    validate: {
      headers: (text, { headersChoice }) =>
        headersChoice === 'replace' ? findHeadersFault(text, webhook === undefined) : null,
    },
  })
  const meanwhile = useMeanwhile(form, current)
  const faults = fieldFaultsOf(error)
  const isNew = webhook === undefined
  const submit = (values: FormValues) => {
    const input = toInput(values)
    if (props.webhook === undefined) props.onSubmit({ ...input, signing: values.signing })
    else props.onSubmit(changedMembers(input, toInput(meanwhile.saved)))
  }
  return (
    <PageForm
      label={label}
      isPending={isPending}
      isChanged={form.isDirty()}
      onCancel={onCancel}
      error={faults === null ? error : null}
      may={useMay(WEBHOOKS_PERMISSION)}
      width={860}
      onSubmit={form.onSubmit(meanwhile.whenDecided(submit))}
    >
      <MeanwhileBar meanwhile={meanwhile} words={FIELD_WORDS} />
      <Section title={words.basics}>
        <Stack>
          <TextInput
            label={texts.name}
            required
            {...form.getInputProps('name')}
            error={faults?.['name']}
            data-autofocus
          />
          <TextInput
            label={texts.url}
            type="url"
            description={words.urlHelp}
            placeholder="https://receiver.example.com/webhooks"
            required
            {...form.getInputProps('url')}
            error={faults?.['url']}
          />
          <TextInput
            label={words.description}
            {...form.getInputProps('description')}
            error={faults?.['description']}
          />
          <SimpleGrid cols={{ base: 1, sm: 2 }}>
            <Select
              label={words.signing}
              description={' '}
              data={Object.entries(words.signings).map(([value, text]) => ({
                value,
                label: text,
              }))}
              allowDeselect={false}
              disabled={!isNew}
              {...form.getInputProps('signing')}
            />
            <NumberInput
              label={words.rate}
              description={words.rateHelp}
              min={1}
              {...form.getInputProps('rate')}
              error={faults?.['rate_limit_per_second']}
            />
          </SimpleGrid>
          <Headers form={form} webhook={webhook} fault={faults?.['headers']} />
        </Stack>
      </Section>
      <Section title={words.events} lead={words.eventsLead}>
        <Checkbox.Group
          aria-label={words.events}
          {...form.getInputProps('events')}
          error={faults?.['events']}
        >
          <SimpleGrid cols={{ base: 1, sm: 2, lg: 3 }} spacing="xs">
            {EVENT_TYPES.map((type) => (
              <Checkbox key={type} value={type} label={<code>{type}</code>} />
            ))}
          </SimpleGrid>
        </Checkbox.Group>
      </Section>
    </PageForm>
  )
}

/** Headers of before are replaced by some: that there shall be none is a choice of its own. */
function findHeadersFault(text: string, mayBeNone: boolean): string | null {
  const headers = parseHeaders(text)
  if (headers === undefined) return words.headersFault
  return mayBeNone || Object.keys(headers).length > 0 ? null : words.headersNone
}

interface HeadersProps {
  readonly form: UseFormReturnType<FormValues>
  readonly webhook: Webhook | undefined
  readonly fault: string | undefined
}

/** Values that are set are shown to nobody: they are kept, replaced or removed. */
function Headers({ form, webhook, fault }: HeadersProps) {
  const isNew = webhook === undefined
  const isEntered = form.values.headersChoice === 'replace'
  return (
    <>
      {isNew ? null : (
        <Select
          label={words.headers}
          description={words.headersSet(webhook.header_names)}
          data={Object.entries(words.headersChoices).map(([value, label]) => ({ value, label }))}
          allowDeselect={false}
          {...form.getInputProps('headersChoice')}
          error={isEntered ? null : fault}
        />
      )}
      {isEntered ? (
        <Textarea
          label={isNew ? words.headers : words.headersNew}
          description={words.headersHelp}
          required={!isNew}
          autosize
          minRows={2}
          {...form.getInputProps('headers')}
          error={form.errors['headers'] ?? fault}
        />
      ) : null}
    </>
  )
}

function toValues(webhook: Webhook | undefined): FormValues {
  return {
    name: webhook?.name ?? '',
    url: webhook?.url ?? '',
    description: webhook?.description ?? '',
    events: [...(webhook?.events ?? [])],
    signing: webhook?.signing ?? 'standard',
    rate: webhook?.rate_limit_per_second ?? '',
    headersChoice: webhook === undefined ? 'replace' : 'keep',
    headers: '',
  }
}

function toInput(values: FormValues): CreateWebhookInput {
  return {
    name: values.name.trim(),
    url: values.url.trim(),
    description: values.description.trim() || null,
    events: values.events as CreateWebhookInput['events'],
    rate_limit_per_second: values.rate === '' ? null : values.rate,
    ...toHeaders(values),
  }
}

function toHeaders({ headersChoice, headers }: FormValues): Pick<CreateWebhookInput, 'headers'> {
  switch (headersChoice) {
    case 'keep':
      return {}
    case 'remove':
      return { headers: {} }
    case 'replace':
      return { headers: parseHeaders(headers) ?? {} }
  }
}
