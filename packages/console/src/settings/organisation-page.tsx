/* The settings of the organisation. What receivers or programs would notice at once is asked before. */
import { Button, Group, Select, Stack, Switch, Text, TextInput } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { fieldFaultsOf } from '../api/client.ts'
import { getOrganisation, patchOrganisation } from '../api/generated/sdk.gen.ts'
import type { ChangeOrganisationInput, Organisation } from '../api/generated/types.gen.ts'
import { ConfirmDialog, Fault } from '../kit/confirm.tsx'
import { Page, Section } from '../kit/page.tsx'
import { Loaded } from '../kit/states.tsx'
import { UnsavedWork } from '../kit/unsaved-work.tsx'
import { useAction } from '../kit/use-action.ts'
import { useMay } from '../shell/session.ts'
import { DeviceSwitch } from '../trusted-device/device-switch.tsx'
import { texts } from './texts.ts'

type Threshold = Organisation['compliance_threshold']

export function OrganisationPage() {
  const query = useQuery({
    queryKey: ['organisation'],
    queryFn: async ({ signal }) => (await getOrganisation({ signal, throwOnError: true })).data,
  })
  return (
    <Page
      title={texts.organisation}
      lead={texts.organisationLead}
      above={[{ label: texts.title, to: '/settings' }]}
    >
      <Loaded query={query} height={320}>
        {(organisation) => <OrganisationForm organisation={organisation} />}
      </Loaded>
    </Page>
  )
}

function OrganisationForm({ organisation }: { readonly organisation: Organisation }) {
  const mayChange = useMay('Manage Organisation')
  const queryClient = useQueryClient()
  // What nobody has touched here follows the organisation.
  const [written, setWritten] = useState<string>()
  const name = written ?? organisation.name
  const isRenamed = mayChange && name.trim() !== organisation.name
  const [asked, setAsked] = useState<ChangeOrganisationInput>()
  const save = useAction({
    run: async (body: ChangeOrganisationInput) =>
      (await patchOrganisation({ body, throwOnError: true })).data,
    done: texts.saved,
    changes: [['organisation']],
    showsFailure: true,
    onDone: (after, sent) => {
      queryClient.setQueryData(['organisation'], after)
      setWritten((text) => (text?.trim() === sent.name ? undefined : text))
      setAsked(undefined)
    },
  })
  const toggle = (change: ChangeOrganisationInput, isOn: boolean) =>
    isOn ? save.mutate(change) : setAsked(change)
  return (
    <>
      <Section title={texts.organisation}>
        <Stack maw={520}>
          {mayChange ? null : (
            <Text size="sm" c="dimmed">
              {texts.mayNot}
            </Text>
          )}
          <form
            onSubmit={(event) => {
              event.preventDefault()
              save.mutate({ name: name.trim() })
            }}
          >
            <UnsavedWork isUnsaved={isRenamed} isPending={save.isPending} />
            <Group align="flex-end" wrap="nowrap">
              <TextInput
                flex={1}
                label={texts.name}
                value={name}
                disabled={!mayChange}
                error={fieldFaultsOf(save.error)?.['name']}
                onChange={({ currentTarget }) => setWritten(currentTarget.value)}
              />
              <Button type="submit" disabled={!isRenamed}>
                {texts.save}
              </Button>
            </Group>
          </form>
          <Select
            label={texts.threshold}
            description={texts.thresholdHelp}
            disabled={!mayChange}
            allowDeselect={false}
            data={Object.entries(texts.thresholds).map(([value, label]) => ({ value, label }))}
            value={organisation.compliance_threshold}
            onChange={(next) => {
              const threshold = (next ?? organisation.compliance_threshold) as Threshold
              if (threshold !== organisation.compliance_threshold) {
                setAsked({ compliance_threshold: threshold })
              }
            }}
          />
        </Stack>
      </Section>
      <Section title={texts.switches}>
        <Stack maw={620}>
          <Switch
            label={texts.apiWrites}
            description={texts.apiWritesHelp}
            disabled={!mayChange}
            checked={organisation.api_writes}
            onChange={({ currentTarget }) =>
              toggle({ api_writes: currentTarget.checked }, currentTarget.checked)
            }
          />
          <Switch
            label={texts.ssf}
            description={texts.ssfHelp}
            disabled={!mayChange}
            checked={organisation.ssf}
            onChange={({ currentTarget }) =>
              toggle({ ssf: currentTarget.checked }, currentTarget.checked)
            }
          />
          <DeviceSwitch
            organisation={organisation}
            mayChange={mayChange}
            done={texts.saved}
            turnOffTitle={texts.turnOffTitle}
            turnOff={texts.turnOff}
          />
          {asked === undefined ? <Fault error={save.error} /> : null}
        </Stack>
      </Section>
      <ChangeDialog
        asked={asked}
        isPending={save.isPending}
        error={save.error}
        onConfirm={() => asked !== undefined && save.mutate(asked)}
        onClose={() => setAsked(undefined)}
      />
    </>
  )
}

interface ChangeDialogProps {
  readonly asked: ChangeOrganisationInput | undefined
  readonly isPending: boolean
  readonly error: Error | null
  readonly onConfirm: () => void
  readonly onClose: () => void
}

function ChangeDialog({ asked, ...rest }: ChangeDialogProps) {
  const isThreshold = asked?.compliance_threshold !== undefined
  const isSsf = asked?.ssf !== undefined
  return (
    <ConfirmDialog
      {...rest}
      isOpen={asked !== undefined}
      title={
        isThreshold
          ? texts.confirmThreshold
          : texts.turnOffTitle(isSsf ? texts.ssf : texts.apiWrites)
      }
      label={isThreshold ? texts.change : texts.turnOff}
      isDanger={!isThreshold}
    >
      {isThreshold ? texts.confirmThresholdHelp : isSsf ? texts.ssfHelp : texts.apiWritesHelp}
    </ConfirmDialog>
  )
}
