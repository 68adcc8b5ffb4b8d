/* The form of a stream: its fields by the names of the interface, and what goes beyond it below. */
import {
  Checkbox,
  PasswordInput,
  SegmentedControl,
  Select,
  SimpleGrid,
  Stack,
  Text,
  Textarea,
  TextInput,
} from '@mantine/core'
import { useForm, type UseFormReturnType } from '@mantine/form'
import type { Stream } from '../api/generated/types.gen.ts'
import { MeanwhileBar, useMeanwhile } from '../kit/meanwhile.tsx'
import { PageForm, type PageFormProps } from '../kit/page-form.tsx'
import { Section } from '../kit/page.tsx'
import { useMay } from '../shell/session.ts'
import {
  isRenewed,
  isSigned,
  toFieldFaults,
  toFormValues,
  type Credential,
  type StreamFormValues,
} from './form-values.ts'
import { STREAMS_PERMISSION } from './stream-queries.ts'
import { MoreChoices } from './stream-form-choices.tsx'
import { STREAM_WORDS } from './stream-words.ts'
import { texts } from './texts.ts'

export type StreamForm = UseFormReturnType<StreamFormValues>

interface StreamFormProps extends PageFormProps {
  /** The stream that is changed; none for a new one. */
  readonly stream?: Stream
  /** Given what was entered, and what is stored. */
  readonly onSubmit: (values: StreamFormValues, saved: StreamFormValues) => void
}

export function StreamForm({ stream, onSubmit, ...page }: StreamFormProps) {
  // What others change meanwhile stays theirs: only what was changed here is sent.
  const current = toFormValues(stream)
  const form = useForm<StreamFormValues>({ initialValues: current })
  const meanwhile = useMeanwhile(form, current)
  const { saved } = meanwhile
  const faults = toFieldFaults(page.error)
  return (
    <PageForm
      {...page}
      isChanged={form.isDirty()}
      error={faults === null ? page.error : null}
      may={useMay(STREAMS_PERMISSION)}
      width={860}
      onSubmit={form.onSubmit(meanwhile.whenDecided((values) => onSubmit(values, saved)))}
    >
      <MeanwhileBar meanwhile={meanwhile} words={STREAM_WORDS} />
      <Basics form={form} faults={faults ?? {}} asksForChanges={saved.hasEvents} />
      {form.values.deliveryType === 'push' ? (
        <Proof form={form} faults={faults ?? {}} stream={stream} />
      ) : null}
      <MoreChoices form={form} faults={faults ?? {}} isNew={stream === undefined} />
    </PageForm>
  )
}

export interface FormPartProps {
  readonly form: StreamForm
  readonly faults: Partial<Record<keyof StreamFormValues, string>>
}

interface BasicsProps extends FormPartProps {
  /** The service takes no stream that asks for nothing, so what is asked for cannot be given up. */
  readonly asksForChanges: boolean
}

function Basics({ form, faults, asksForChanges }: BasicsProps) {
  const { deliveryType, specVersion } = form.values
  const isPush = deliveryType === 'push'
  return (
    <Section title={texts.form.basics}>
      <Stack>
        <TextInput
          label={texts.name}
          description={texts.form.nameHelp}
          required
          maxLength={200}
          {...form.getInputProps('name')}
          error={faults.name}
          data-autofocus
        />
        <div>
          <Text size="sm" fw={500} mb={4} id="delivery-type">
            {texts.deliveryType}
          </Text>
          <SegmentedControl
            aria-labelledby="delivery-type"
            data={[
              { value: 'push', label: texts.deliveryTypes.push },
              { value: 'poll', label: texts.deliveryTypes.poll },
            ]}
            value={deliveryType}
            onChange={(value) => form.setFieldValue('deliveryType', value)}
          />
          <Text size="xs" c="dimmed" mt={4}>
            {texts.form.deliveryHelp[deliveryType]}
          </Text>
        </div>
        <TextInput
          label={texts.url}
          type="url"
          placeholder="https://receiver.example.com/events"
          description={isPush ? texts.form.urlPush : texts.form.urlPoll}
          required={isPush}
          {...form.getInputProps('url')}
          error={faults.url}
        />
        <Select
          label={texts.specVersion}
          description={texts.form.specHelp[specVersion]}
          data={(['1.0', 'draft', 'both'] as const).map((value) => ({
            value,
            label: texts.specVersions[value],
          }))}
          allowDeselect={false}
          w={260}
          {...form.getInputProps('specVersion')}
          error={faults.specVersion}
        />
        <Checkbox.Group
          label={texts.eventTypes}
          value={form.values.hasEvents ? [texts.eventType] : []}
          onChange={(chosen) => form.setFieldValue('hasEvents', chosen.length > 0)}
        >
          <Checkbox
            mt={6}
            value={texts.eventType}
            label={<code>{texts.eventType}</code>}
            description={texts.form.eventsHelp}
            disabled={asksForChanges}
          />
        </Checkbox.Group>
      </Stack>
    </Section>
  )
}

interface ProofProps extends FormPartProps {
  readonly stream: Stream | undefined
}

function Proof({ form, faults, stream }: ProofProps) {
  const kinds: readonly Credential[] =
    stream === undefined
      ? ['none', 'header', 'oauth', 'mtls']
      : ['keep', 'none', 'header', 'oauth', 'mtls']
  const { credential } = form.values
  return (
    <Section title={texts.form.signsIn}>
      <Stack>
        <Select
          aria-label={texts.form.signsIn}
          description={
            stream === undefined || credential === 'keep'
              ? undefined
              : texts.form[isRenewed(credential, stream) ? 'renews' : 'replaces']
          }
          data={kinds.map((value) => ({ value, label: texts.form.credentials[value] }))}
          allowDeselect={false}
          w={260}
          maw="100%"
          {...form.getInputProps('credential')}
          // What is kept has no field of its own: it may be kept no longer, with another host.
          error={
            credential === 'oauth' || faults.clientSecret === undefined
              ? null
              : texts.form.keptSecret(faults.clientSecret)
          }
        />
        {credential === 'header' ? (
          <PasswordInput
            label={texts.form.header}
            description={texts.form.headerHelp}
            placeholder="Bearer …"
            autoComplete="off"
            required
            {...form.getInputProps('header')}
            error={faults.header}
          />
        ) : null}
        {credential === 'oauth' ? (
          <OauthFields form={form} faults={faults} stream={stream} />
        ) : null}
        {credential === 'mtls' ? (
          <>
            <Textarea
              label={texts.form.certificate}
              required
              minRows={4}
              autosize
              {...form.getInputProps('certificate')}
              error={faults.certificate}
            />
            <Textarea
              label={texts.form.privateKey}
              description={texts.form.secretHelp}
              required
              minRows={4}
              autosize
              {...form.getInputProps('privateKey')}
              error={faults.privateKey}
            />
          </>
        ) : null}
      </Stack>
    </Section>
  )
}

function OauthFields({ form, faults, stream }: ProofProps) {
  return (
    <SimpleGrid cols={{ base: 1, sm: 2 }}>
      <TextInput
        label={texts.form.tokenEndpoint}
        type="url"
        required
        {...form.getInputProps('tokenEndpoint')}
        error={faults.tokenEndpoint}
      />
      <TextInput
        label={texts.form.clientId}
        required
        {...form.getInputProps('clientId')}
        error={faults.clientId}
      />
      <PasswordInput
        label={texts.form.clientSecret}
        description={isSigned(stream) ? texts.form.signedHelp : texts.form.secretHelp}
        autoComplete="off"
        inputWrapperOrder={['label', 'input', 'description', 'error']}
        {...form.getInputProps('clientSecret')}
        error={faults.clientSecret}
      />
      <TextInput label={texts.form.scope} {...form.getInputProps('scope')} error={faults.scope} />
    </SimpleGrid>
  )
}
