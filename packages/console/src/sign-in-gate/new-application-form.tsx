/* What has to be known of an application before it can be set up here. */
import { SegmentedControl, Select, Stack, Text, Textarea, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { Link } from '@tanstack/react-router'
import { fieldFaultsOf } from '../api/client.ts'
import type { CreateSignInApplicationInput } from '../api/generated/types.gen.ts'
import { Copyable } from '../kit/copyable.tsx'
import { PageForm, type PageFormProps } from '../kit/page-form.tsx'
import { Section } from '../kit/page.tsx'
import { Needs } from '../shell/needs.tsx'
import { useMay } from '../shell/session.ts'
import { findFault, toLines } from './form-lines.ts'
import { MANAGE_PERMISSION, useUpstreamChoices } from './gate-queries.ts'
import type { Guide } from './guides/guide.ts'
import { texts } from './texts.ts'

const { fields: words } = texts

interface FormValues {
  name: string
  redirect: string
  mode: Guide['mode']
  upstream: string
  assurance: NonNullable<CreateSignInApplicationInput['minimum_assurance']>
  tenant: string
  app: string
  cloud: NonNullable<CreateSignInApplicationInput['entra_cloud']>
  hosts: string
}

interface NewApplicationFormProps extends PageFormProps {
  readonly guide: Guide
  readonly onSubmit: (input: CreateSignInApplicationInput) => void
}

export function NewApplicationForm(props: NewApplicationFormProps) {
  const { guide, label, isPending, error, onCancel, onSubmit } = props
  const form = useForm<FormValues>({
    initialValues: {
      name: guide.id === 'oidc' ? '' : guide.name,
      redirect: '',
      mode: guide.mode,
      upstream: '',
      assurance: 'live',
      tenant: '',
      app: '',
      cloud: 'global',
      hosts: '',
    },
  })
  const may = useMay(MANAGE_PERMISSION)
  const faults = fieldFaultsOf(error)
  return (
    <PageForm
      label={label}
      isPending={isPending}
      isChanged={form.isDirty()}
      error={faults === null ? error : null}
      may={may}
      width={760}
      onCancel={onCancel}
      onSubmit={form.onSubmit((values) => onSubmit(toInput(guide, values)))}
    >
      <Needs permission={MANAGE_PERMISSION} />
      <Section title={texts.wizard.known}>
        <Stack>
          <TextInput
            label={texts.name}
            description={words.nameHelp}
            required
            {...form.getInputProps('name')}
            error={faults?.['name']}
          />
          <RedirectInput guide={guide} form={form} error={findFault(faults, 'redirect_uris')} />
          {guide.kind === 'entra' ? <EntraInputs form={form} faults={faults} /> : null}
          {guide.kind === 'forward_auth' ? (
            <Textarea
              label={words.hosts}
              description={words.hostsHelp}
              placeholder="wiki.example.com"
              required
              autosize
              minRows={2}
              spellCheck={false}
              {...form.getInputProps('hosts')}
              error={findFault(faults, 'hosts')}
            />
          ) : null}
          <WhoSays guide={guide} form={form} error={faults?.['upstream_provider_id']} />
          <Select
            label={words.assurance}
            description={words.assuranceHelp}
            allowDeselect={false}
            data={Object.entries(texts.assurances).map(([value, text]) => ({ value, label: text }))}
            {...form.getInputProps('assurance')}
          />
        </Stack>
      </Section>
    </PageForm>
  )
}

type Form = ReturnType<typeof useForm<FormValues>>

interface InputProps {
  readonly guide: Guide
  readonly form: Form
  readonly error: string | undefined
}

function RedirectInput({ guide: { redirect }, form, error }: InputProps) {
  if (redirect === undefined) return null
  const { redirect: typed } = form.getValues()
  const uri = redirect.toRedirectUri(typed)
  return (
    <div>
      <TextInput
        label={redirect.label}
        description={redirect.help}
        placeholder={redirect.placeholder}
        required
        spellCheck={false}
        autoComplete="off"
        {...form.getInputProps('redirect')}
        error={error}
      />
      {typed.trim() === '' || uri === typed ? null : (
        <>
          <Text size="xs" c="dimmed" mt={6}>
            {words.redirectBecomes}
          </Text>
          <Copyable value={uri} isWhole />
        </>
      )}
    </div>
  )
}

interface EntraInputsProps {
  readonly form: Form
  readonly faults: ReturnType<typeof fieldFaultsOf>
}

function EntraInputs({ form, faults }: EntraInputsProps) {
  return (
    <>
      <TextInput
        label={words.tenant}
        description={words.tenantHelp}
        required
        spellCheck={false}
        {...form.getInputProps('tenant')}
        error={faults?.['entra_tenant_id']}
      />
      <TextInput
        label={words.app}
        description={words.appHelp}
        required
        spellCheck={false}
        {...form.getInputProps('app')}
        error={faults?.['entra_app_id']}
      />
      <Select
        label={words.cloud}
        allowDeselect={false}
        data={Object.entries(words.clouds).map(([value, text]) => ({ value, label: text }))}
        {...form.getInputProps('cloud')}
      />
    </>
  )
}

/** Who says who signs in: fixed by most guides. */
function WhoSays({ guide, form, error }: InputProps) {
  const upstreams = useUpstreamChoices()
  const { mode } = form.getValues()
  return (
    <>
      {guide.id === 'oidc' ? (
        <div>
          <Text size="sm" fw={500} mb={4} id="who-says">
            {words.mode}
          </Text>
          <SegmentedControl
            aria-labelledby="who-says"
            data={Object.entries(words.modes).map(([value, text]) => ({ value, label: text }))}
            {...form.getInputProps('mode')}
          />
        </div>
      ) : null}
      {mode === 'broker' ? (
        <div>
          <Select
            label={words.upstream}
            description={words.upstreamHelp}
            placeholder={upstreams.length === 0 ? words.noUpstream : words.chooseUpstream}
            required
            data={upstreams}
            {...form.getInputProps('upstream')}
            error={error}
          />
          {upstreams.length > 0 ? null : (
            <Text size="sm" mt={4}>
              <Link to="/settings/sign-in/upstream-providers/new">{words.makeUpstream}</Link>
            </Text>
          )}
        </div>
      ) : null}
    </>
  )
}

function toInput(guide: Guide, values: FormValues): CreateSignInApplicationInput {
  const { kind, redirect } = guide
  return {
    kind,
    ...guide.values,
    name: values.name.trim(),
    mode: values.mode,
    minimum_assurance: values.assurance,
    ...(redirect === undefined ? {} : { redirect_uris: [redirect.toRedirectUri(values.redirect)] }),
    ...(values.mode === 'broker' && values.upstream !== ''
      ? { upstream_provider_id: values.upstream }
      : {}),
    ...(kind === 'forward_auth' ? { hosts: toLines(values.hosts) } : {}),
    ...(kind === 'entra'
      ? {
          entra_tenant_id: values.tenant.trim(),
          entra_app_id: values.app.trim(),
          entra_cloud: values.cloud,
        }
      : {}),
  }
}
