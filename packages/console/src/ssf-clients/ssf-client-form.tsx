/* The form of an SSF client. */
import { Checkbox, Group, Select, SimpleGrid, Stack, Textarea, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { fieldFaultsOf } from '../api/client.ts'
import type {
  CreateSsfClientInput,
  SsfClient,
  UpdateSsfClientInput,
} from '../api/generated/types.gen.ts'
import { changedMembers } from '../kit/changed-members.ts'
import { MeanwhileBar, useMeanwhile, type FieldWords } from '../kit/meanwhile.tsx'
import { PageForm, type PageFormProps } from '../kit/page-form.tsx'
import { Section } from '../kit/page.tsx'
import { useMay } from '../shell/session.ts'
import { STREAMS_PERMISSION } from '../streams/stream-queries.ts'
import { texts as streamTexts } from '../streams/texts.ts'
import { texts } from './texts.ts'

const { form: words } = texts

interface FormValues {
  name: string
  scopes: SsfClient['scopes']
  audience: string
  subjects: '' | 'ALL' | 'NONE'
  profile: SsfClient['profile']
  jwks: string
}

/** How the fields are told where another admin has changed them. */
const FIELD_WORDS: FieldWords<FormValues> = {
  name: { label: texts.name },
  scopes: {
    label: texts.scopes,
    tell: (scopes) => scopes.map((scope) => words.scopeNames[scope]).join(', ') || words.noScopes,
  },
  audience: { label: words.audience },
  subjects: { label: words.subjects, tell: (choice) => words.subjectChoices[choice] },
  profile: { label: words.profile, tell: (profile) => streamTexts.form.profiles[profile] },
  jwks: { label: words.jwks },
}

/** A new client, or the changes of one: what is left out stays as it is. */
type SsfClientFormProps = PageFormProps &
  (
    | { readonly client?: never; readonly onSubmit: (input: CreateSsfClientInput) => void }
    | { readonly client: SsfClient; readonly onSubmit: (changes: UpdateSsfClientInput) => void }
  )

export function SsfClientForm(props: SsfClientFormProps) {
  const { client, label, isPending, error, onCancel } = props
  const current = toValues(client)
  const form = useForm<FormValues>({
    initialValues: current,
    validate: { jwks: (text) => (parseJwks(text) === null ? words.jwksFault : null) },
  })
  const meanwhile = useMeanwhile(form, current)
  const faults = fieldFaultsOf(error)
  const submit = (values: FormValues) => {
    const input = toInput(values)
    if (props.client === undefined) props.onSubmit(input)
    else props.onSubmit(changedMembers(input, toInput(meanwhile.saved)))
  }
  const hasKeys = client === undefined || client.jwks !== null
  return (
    <PageForm
      label={label}
      isPending={isPending}
      isChanged={form.isDirty()}
      onCancel={onCancel}
      error={faults === null ? error : null}
      may={useMay(STREAMS_PERMISSION)}
      width={760}
      onSubmit={form.onSubmit(meanwhile.whenDecided(submit))}
    >
      <MeanwhileBar meanwhile={meanwhile} words={FIELD_WORDS} />
      <Section title={texts.page.facts}>
        <Stack>
          <TextInput
            label={texts.name}
            required
            {...form.getInputProps('name')}
            error={faults?.['name']}
            data-autofocus
          />
          <Checkbox.Group
            label={texts.scopes}
            {...form.getInputProps('scopes')}
            error={faults?.['scopes']}
          >
            <Group mt={6}>
              {Object.entries(words.scopeNames).map(([value, text]) => (
                <Checkbox key={value} value={value} label={text} />
              ))}
            </Group>
          </Checkbox.Group>
          <TextInput
            label={words.audience}
            description={words.audienceHelp}
            {...form.getInputProps('audience')}
            error={faults?.['audience']}
          />
          <SimpleGrid cols={{ base: 1, sm: 2 }}>
            <Select
              label={words.subjects}
              data={Object.entries(words.subjectChoices).map(([value, text]) => ({
                value,
                label: text,
              }))}
              allowDeselect={false}
              {...form.getInputProps('subjects')}
            />
            <Select
              label={words.profile}
              data={Object.entries(streamTexts.form.profiles).map(([value, text]) => ({
                value,
                label: text,
              }))}
              allowDeselect={false}
              {...form.getInputProps('profile')}
            />
          </SimpleGrid>
          {hasKeys ? (
            <Textarea
              label={words.jwks}
              description={client === undefined ? words.jwksHelp : words.jwksKeep}
              autosize
              minRows={3}
              maxRows={12}
              spellCheck={false}
              styles={{ input: { fontFamily: 'var(--helio-mono)', fontSize: '0.78125rem' } }}
              {...form.getInputProps('jwks')}
              error={form.errors['jwks'] ?? faults?.['jwks']}
            />
          ) : null}
        </Stack>
      </Section>
    </PageForm>
  )
}

function toValues(client: SsfClient | undefined): FormValues {
  return {
    name: client?.name ?? '',
    scopes: client?.scopes ?? ['ssf.read', 'ssf.manage'],
    audience: client?.audience ?? '',
    subjects: client?.default_subjects ?? '',
    profile: client?.profile ?? 'strict',
    jwks: '',
  }
}

type Jwks = NonNullable<CreateSsfClientInput['jwks']>

/** The key set; undefined for an empty text, null for one that is none. */
function parseJwks(text: string): Jwks | undefined | null {
  if (text.trim() === '') return undefined
  try {
    const value = JSON.parse(text) as { readonly keys?: unknown } | null
    return Array.isArray(value?.keys) ? (value as Jwks) : null
  } catch {
    return null
  }
}

function toInput(values: FormValues): CreateSsfClientInput {
  const jwks = parseJwks(values.jwks)
  return {
    name: values.name.trim(),
    scopes: values.scopes,
    audience: values.audience.trim() || null,
    default_subjects: values.subjects === '' ? null : values.subjects,
    profile: values.profile,
    ...(jwks === undefined || jwks === null ? {} : { jwks }),
  }
}
