/* The settings of an application. */
import { NumberInput, Select, SimpleGrid, Stack, Switch, Textarea, TextInput } from '@mantine/core'
import { useForm, type UseFormReturnType } from '@mantine/form'
import { fieldFaultsOf } from '../api/client.ts'
import { patchSignInApplicationsById } from '../api/generated/sdk.gen.ts'
import type { SignInApplication, UpdateSignInApplicationInput } from '../api/generated/types.gen.ts'
import { changedMembers } from '../kit/changed-members.ts'
import { MeanwhileBar, useMeanwhile, type FieldWords } from '../kit/meanwhile.tsx'
import { PageForm } from '../kit/page-form.tsx'
import { Section } from '../kit/page.tsx'
import { useAction } from '../kit/use-action.ts'
import { Needs } from '../shell/needs.tsx'
import { useMay } from '../shell/session.ts'
import { findFault, toLines } from './form-lines.ts'
import { MANAGE_PERMISSION, useUpstreamChoices } from './gate-queries.ts'
import { texts } from './texts.ts'

const { fields: words } = texts
const MINUTE_SECONDS = 60

interface FormValues {
  name: string
  redirects: string
  logouts: string
  backchannel: string
  upstream: string | null
  assurance: SignInApplication['minimum_assurance']
  profile: SignInApplication['claims_profile']
  hasSerial: boolean
  hosts: string
  minutes: number | string
}

/** How the fields are told where another admin has changed them. */
function useWords(): FieldWords<FormValues> {
  const upstreams = useUpstreamChoices()
  return {
    name: { label: texts.name },
    redirects: { label: words.redirects },
    logouts: { label: words.logouts },
    backchannel: { label: words.backchannel },
    upstream: {
      label: words.upstream,
      tell: (id) => upstreams.find(({ value }) => value === id)?.label ?? words.noneChosen,
    },
    assurance: { label: words.assurance, tell: (level) => texts.assurances[level] },
    profile: { label: words.profile, tell: (profile) => words.profiles[profile] },
    hasSerial: { label: words.serial },
    hosts: { label: words.hosts },
    minutes: { label: words.minutes },
  }
}

type Faults = ReturnType<typeof fieldFaultsOf>

export function ApplicationForm({ application }: { readonly application: SignInApplication }) {
  const { id, kind } = application
  const current = toValues(application)
  const form = useForm<FormValues>({ initialValues: current })
  const meanwhile = useMeanwhile(form, current)
  const save = useAction({
    run: async (values: FormValues) => {
      const body = changedMembers(toInput(kind, values), toInput(kind, meanwhile.saved))
      return (await patchSignInApplicationsById({ path: { id }, body, throwOnError: true })).data
    },
    done: texts.saved,
    changes: [['sign_in_applications']],
    showsFailure: true,
    onDone: (after, sent) => meanwhile.settle(sent, toValues(after)),
  })
  const faults = fieldFaultsOf(save.error)
  return (
    <PageForm
      label={texts.save}
      isPending={save.isPending}
      isChanged={form.isDirty()}
      error={faults === null ? save.error : null}
      may={useMay(MANAGE_PERMISSION)}
      width={760}
      onCancel={() => form.setValues(meanwhile.saved)}
      onSubmit={form.onSubmit(meanwhile.whenDecided((values) => save.mutate(values)))}
    >
      <Needs permission={MANAGE_PERMISSION} />
      <MeanwhileBar meanwhile={meanwhile} words={useWords()} />
      <Section title={words.section}>
        <Stack>
          <TextInput
            label={texts.name}
            description={words.nameHelp}
            required
            {...form.getInputProps('name')}
            error={faults?.['name']}
          />
          {kind === 'oidc' ? <AddressInputs form={form} faults={faults} /> : null}
          {kind === 'forward_auth' ? (
            <Textarea
              label={words.hosts}
              description={words.hostsHelp}
              autosize
              minRows={2}
              spellCheck={false}
              {...form.getInputProps('hosts')}
              error={findFault(faults, 'hosts')}
            />
          ) : null}
        </Stack>
      </Section>
      <DecisionInputs application={application} form={form} faults={faults} />
    </PageForm>
  )
}

interface InputsProps {
  readonly form: UseFormReturnType<FormValues>
  readonly faults: Faults
}

function AddressInputs({ form, faults }: InputsProps) {
  return (
    <>
      <Textarea
        label={words.redirects}
        description={words.redirectsHelp}
        autosize
        minRows={2}
        spellCheck={false}
        {...form.getInputProps('redirects')}
        error={findFault(faults, 'redirect_uris')}
      />
      <Textarea
        label={words.logouts}
        description={words.logoutsHelp}
        autosize
        minRows={1}
        spellCheck={false}
        {...form.getInputProps('logouts')}
        error={findFault(faults, 'post_logout_redirect_uris')}
      />
      <TextInput
        label={words.backchannel}
        description={words.backchannelHelp}
        spellCheck={false}
        {...form.getInputProps('backchannel')}
        error={faults?.['backchannel_logout_uri']}
      />
    </>
  )
}

function DecisionInputs(props: InputsProps & { readonly application: SignInApplication }) {
  const { application, form, faults } = props
  const upstreams = useUpstreamChoices()
  return (
    <Section title={words.decides}>
      <Stack>
        <Select
          label={words.assurance}
          description={words.assuranceHelp}
          allowDeselect={false}
          data={Object.entries(texts.assurances).map(([value, text]) => ({ value, label: text }))}
          {...form.getInputProps('assurance')}
        />
        {application.kind === 'entra' ? null : (
          <Select
            label={words.upstream}
            description={application.mode === 'broker' ? words.upstreamHelp : words.upstreamStepUp}
            clearable={application.mode === 'step_up'}
            data={upstreams}
            {...form.getInputProps('upstream')}
            error={faults?.['upstream_provider_id']}
          />
        )}
        <SimpleGrid cols={{ base: 1, sm: 2 }}>
          <NumberInput
            label={words.minutes}
            description={words.minutesHelp}
            min={1}
            allowDecimal={false}
            {...form.getInputProps('minutes')}
            error={faults?.['session_seconds']}
          />
          {application.kind === 'oidc' ? (
            <Select
              label={words.profile}
              description={words.profileHelp}
              allowDeselect={false}
              data={Object.entries(words.profiles).map(([value, text]) => ({ value, label: text }))}
              {...form.getInputProps('profile')}
            />
          ) : null}
        </SimpleGrid>
        <Switch
          label={words.serial}
          description={words.serialHelp}
          {...form.getInputProps('hasSerial', { type: 'checkbox' })}
        />
      </Stack>
    </Section>
  )
}

function toValues(application: SignInApplication): FormValues {
  return {
    name: application.name,
    redirects: application.redirect_uris.join('\n'),
    logouts: application.post_logout_redirect_uris.join('\n'),
    backchannel: application.backchannel_logout_uri ?? '',
    upstream: application.upstream_provider_id,
    assurance: application.minimum_assurance,
    profile: application.claims_profile,
    hasSerial: application.serial_claimed,
    hosts: application.hosts.join('\n'),
    minutes: Math.round(application.session_seconds / MINUTE_SECONDS),
  }
}

function toInput(kind: SignInApplication['kind'], values: FormValues) {
  const backchannel = values.backchannel.trim()
  return {
    name: values.name.trim(),
    ...(kind === 'oidc'
      ? {
          redirect_uris: toLines(values.redirects),
          post_logout_redirect_uris: toLines(values.logouts),
          backchannel_logout_uri: backchannel === '' ? null : backchannel,
          claims_profile: values.profile,
        }
      : {}),
    ...(kind === 'forward_auth' ? { hosts: toLines(values.hosts) } : {}),
    ...(kind === 'entra' ? {} : { upstream_provider_id: values.upstream }),
    minimum_assurance: values.assurance,
    serial_claimed: values.hasSerial,
    session_seconds: Number(values.minutes) * MINUTE_SECONDS,
  } satisfies UpdateSignInApplicationInput
}
