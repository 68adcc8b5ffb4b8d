import { PasswordInput, Stack, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { fieldFaultsOf } from '../api/client.ts'
import type {
  CreateSignInUpstreamProviderInput,
  SignInUpstreamProvider,
  UpdateSignInUpstreamProviderInput,
} from '../api/generated/types.gen.ts'
import { changedMembers } from '../kit/changed-members.ts'
import { MeanwhileBar, useMeanwhile, type FieldWords } from '../kit/meanwhile.tsx'
import { PageForm, type PageFormProps } from '../kit/page-form.tsx'
import { Section } from '../kit/page.tsx'
import { Needs } from '../shell/needs.tsx'
import { useMay } from '../shell/session.ts'
import { findFault } from './form-lines.ts'
import { MANAGE_PERMISSION } from './gate-queries.ts'
import { texts } from './texts.ts'

const { upstreams: words } = texts

interface FormValues {
  name: string
  issuer: string
  client_id: string
  client_secret: string
  scopes: string
}

/** How the fields are told where another admin has changed them. */
const FIELD_WORDS: FieldWords<FormValues> = {
  name: { label: texts.name },
  issuer: { label: words.issuer },
  client_id: { label: texts.clientId },
  client_secret: { label: words.secret },
  scopes: { label: words.scopes },
}

type UpstreamFormProps = PageFormProps &
  (
    | {
        readonly provider?: never
        readonly onSubmit: (input: CreateSignInUpstreamProviderInput) => void
      }
    | {
        readonly provider: SignInUpstreamProvider
        /** Calls `done` with what was saved. */
        readonly onSubmit: (
          changes: UpdateSignInUpstreamProviderInput,
          done: (after: SignInUpstreamProvider) => void,
        ) => void
      }
  )

/** A new upstream provider, or the changes of one. An empty secret is none. */
export function UpstreamForm(props: UpstreamFormProps) {
  const { provider, label, isPending, error, onCancel } = props
  const current = toValues(provider)
  const form = useForm<FormValues>({ initialValues: current })
  const meanwhile = useMeanwhile(form, current)
  const faults = fieldFaultsOf(error)
  const { issuer, client_id: clientId } = form.getValues()
  const isOther = provider?.issuer !== issuer.trim() || provider.client_id !== clientId.trim()
  const submit = (values: FormValues) => {
    const secret = values.client_secret.trim()
    if (props.provider === undefined) {
      props.onSubmit({ ...toInput(values), client_secret: secret })
      return
    }
    const changes = {
      ...changedMembers(toInput(values), toInput(meanwhile.saved)),
      ...(secret === '' ? {} : { client_secret: secret }),
    }
    props.onSubmit(changes, (after) => meanwhile.settle(values, toValues(after)))
  }
  const plain = { required: true, spellCheck: false, autoComplete: 'off' } as const
  return (
    <PageForm
      label={label}
      isPending={isPending}
      isChanged={form.isDirty()}
      error={faults === null ? error : null}
      may={useMay(MANAGE_PERMISSION)}
      width={760}
      onCancel={onCancel}
      onSubmit={form.onSubmit(meanwhile.whenDecided(submit))}
    >
      <Needs permission={MANAGE_PERMISSION} />
      <MeanwhileBar meanwhile={meanwhile} words={FIELD_WORDS} />
      <Section title={words.client}>
        <Stack>
          <TextInput
            {...plain}
            label={texts.name}
            description={words.nameHelp}
            {...form.getInputProps('name')}
            error={faults?.['name']}
          />
          <TextInput
            {...plain}
            label={words.issuer}
            description={words.issuerHelp}
            placeholder="https://login.example.com"
            {...form.getInputProps('issuer')}
            error={faults?.['issuer']}
          />
          <TextInput
            {...plain}
            label={texts.clientId}
            {...form.getInputProps('client_id')}
            error={faults?.['client_id']}
          />
          <PasswordInput
            label={words.secret}
            description={
              provider === undefined
                ? words.secretHelp
                : isOther
                  ? words.secretNeeded
                  : words.secretKept
            }
            required={isOther}
            autoComplete="new-password"
            {...form.getInputProps('client_secret')}
            error={faults?.['client_secret']}
          />
          <TextInput
            {...plain}
            label={words.scopes}
            description={words.scopesHelp}
            {...form.getInputProps('scopes')}
            error={findFault(faults, 'scopes')}
          />
        </Stack>
      </Section>
    </PageForm>
  )
}

function toValues(provider: SignInUpstreamProvider | undefined): FormValues {
  return {
    name: provider?.name ?? '',
    issuer: provider?.issuer ?? '',
    client_id: provider?.client_id ?? '',
    client_secret: '',
    scopes: provider?.scopes.join(' ') ?? 'openid email profile',
  }
}

function toInput(values: FormValues) {
  return {
    name: values.name.trim(),
    issuer: values.issuer.trim(),
    client_id: values.client_id.trim(),
    scopes: values.scopes.split(/\s+/).filter((scope) => scope !== ''),
  }
}
