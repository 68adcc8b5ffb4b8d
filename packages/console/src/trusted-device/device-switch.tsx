/* The switch that asks admins for a trusted device. Before it is turned on, it says whom it would lock out. */
import { Alert, Button, List, Modal, Stack, Switch, Text } from '@mantine/core'
import { AlertIcon } from '@primer/octicons-react'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { getAdminDevices, patchOrganisation } from '../api/generated/sdk.gen.ts'
import type { AdminDevice, Organisation } from '../api/generated/types.gen.ts'
import { ConfirmDialog, DialogForm } from '../kit/confirm.tsx'
import { readAll } from '../kit/read-all.ts'
import { Loaded } from '../kit/states.tsx'
import { useAction } from '../kit/use-action.ts'
import { useSession } from '../shell/session.ts'
import { DEVICE_PATH } from './device-calls.ts'
import { texts } from './texts.ts'

/** Of those who would be locked out, so many are named. */
const NAMED_MAX = 10

interface DeviceSwitchProps {
  readonly organisation: Organisation
  readonly mayChange: boolean
  readonly done: string
  /** How switching something off is asked about. */
  readonly turnOffTitle: (name: string) => string
  readonly turnOff: string
}

export function DeviceSwitch({ organisation, mayChange, ...words }: DeviceSwitchProps) {
  const [asked, setAsked] = useState<boolean>()
  const close = () => setAsked(undefined)
  const save = useAction({
    run: (isRequired: boolean) =>
      patchOrganisation({
        body: { admins_require_trusted_device: isRequired },
        throwOnError: true,
      }),
    done: words.done,
    changes: [['organisation'], ['session']],
    showsFailure: true,
    onDone: close,
  })
  const { isPending, error } = save
  return (
    <>
      <Switch
        label={texts.switchLabel}
        description={texts.switchHelp}
        disabled={!mayChange}
        checked={organisation.admins_require_trusted_device}
        onChange={({ currentTarget }) => setAsked(currentTarget.checked)}
      />
      <Modal opened={asked === true} onClose={close} title={texts.switchOnTitle} size={520}>
        <SwitchOnForm
          isPending={isPending}
          error={error}
          onSubmit={() => save.mutate(true)}
          onClose={close}
        />
      </Modal>
      <ConfirmDialog
        isOpen={asked === false}
        title={words.turnOffTitle(texts.switchLabel)}
        label={words.turnOff}
        isDanger
        isPending={isPending}
        error={error}
        onConfirm={() => save.mutate(false)}
        onClose={close}
      >
        {texts.switchOffHelp}
      </ConfirmDialog>
    </>
  )
}

interface SwitchOnFormProps {
  readonly isPending: boolean
  readonly error: Error | null
  readonly onSubmit: () => void
  readonly onClose: () => void
}

function SwitchOnForm(props: SwitchOnFormProps) {
  const isTrusted = useSession()?.trusted_device.problem === null
  const query = useQuery({
    queryKey: ['admin_users', 'devices'],
    queryFn: ({ signal }) => readAll<AdminDevice>(getAdminDevices, signal),
  })
  const isIncomplete = !isTrusted || query.data === undefined
  return (
    <DialogForm label={texts.switchOn} isChanged={false} isIncomplete={isIncomplete} {...props}>
      <Stack gap="sm">
        <Text size="sm">{texts.switchOnHelp}</Text>
        {isTrusted ? null : <ProveFirst />}
        <Loaded query={query} height={80}>
          {(admins) => <LockedOut admins={admins.filter(({ problem }) => problem !== null)} />}
        </Loaded>
      </Stack>
    </DialogForm>
  )
}

function ProveFirst() {
  const { pathname } = globalThis.location
  return (
    <Alert color="yellow" icon={<AlertIcon />} role="alert" p="xs">
      <Stack gap="xs" align="flex-start">
        {texts.proveFirst}
        <Button
          component="a"
          variant="default"
          size="xs"
          href={`${DEVICE_PATH}?next=${encodeURIComponent(pathname)}`}
        >
          {texts.proveOwn}
        </Button>
      </Stack>
    </Alert>
  )
}

function LockedOut({ admins }: { readonly admins: readonly AdminDevice[] }) {
  if (admins.length === 0) return <Text size="sm">{texts.nobodyLockedOut}</Text>
  const others = admins.length - NAMED_MAX
  return (
    <div>
      <Text size="sm">{texts.lockedOut(admins.length)}</Text>
      <List size="sm">
        {admins.slice(0, NAMED_MAX).map(({ id, name, email, problem, device_name: device }) => (
          <List.Item key={id} style={{ overflowWrap: 'anywhere' }}>
            {name} ({email}):{' '}
            {problem === 'device_blocked' && device !== null ? `${device}, ` : null}
            {problem === null ? null : texts.lockedOutBecause[problem]}
          </List.Item>
        ))}
        {others > 0 ? <List.Item>{texts.more(others)}</List.Item> : null}
      </List>
    </div>
  )
}
