/* One device: what is so and why, and what can be done about it. */
import { Skeleton, Stack, Tabs, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { lazy, Suspense } from 'react'
import type { Device } from '../api/generated/types.gen.ts'
import { LoadedPage } from '../kit/loaded-page.tsx'
import { Page } from '../kit/page.tsx'
import { Time } from '../kit/time.tsx'
import { DeviceState } from '../kit/tone.tsx'
import { DeviceActions } from './device-actions.tsx'
import { DeviceOverview } from './device-overview.tsx'
import classes from './device-page.module.css'
import { deviceQuery } from './device-queries.ts'
import { WhySentence } from './device-why.tsx'
import type { DeviceTab } from './routes.ts'
import { texts } from './texts.ts'

const Checks = lazy(async () => ({ default: (await import('./device-checks.tsx')).DeviceChecks }))
const SignIns = lazy(async () => ({
  default: (await import('./device-sign-ins.tsx')).DeviceSignIns,
}))
const Ask = lazy(async () => ({ default: (await import('./device-ask.tsx')).DeviceAsk }))

const ABOVE = [{ label: texts.title, to: '/devices' }]

export function DevicePage() {
  const { id } = useParams({ from: '/frame/devices/$id' })
  const query = useQuery(deviceQuery(id))
  return (
    <LoadedPage query={query} title={texts.title} above={ABOVE}>
      {(device) => <LoadedDevice device={device} />}
    </LoadedPage>
  )
}

function LoadedDevice({ device }: { readonly device: Device }) {
  const { id } = device
  const { tab = 'overview' } = useSearch({ from: '/frame/devices/$id' })
  const navigate = useNavigate()
  const open = (next: string | null) =>
    void navigate({
      to: '/devices/$id',
      params: { id },
      search: next === null || next === 'overview' ? {} : { tab: next as DeviceTab },
      replace: true,
    })
  return (
    <Page
      title={device.name}
      above={ABOVE}
      badge={<DeviceState state={device.auth_state} isPlain={false} />}
      lead={<Lead device={device} />}
      actions={<DeviceActions device={device} />}
    >
      <Tabs value={tab} onChange={open} keepMounted={false} classNames={{ list: classes.tabs }}>
        <Tabs.List>
          {Object.entries(texts.tabs).map(([value, label]) => (
            <Tabs.Tab key={value} value={value}>
              {label}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        <Suspense fallback={<Skeleton height={240} mt="md" />}>
          <Tabs.Panel value="overview" pt="md">
            <DeviceOverview device={device} />
          </Tabs.Panel>
          <Tabs.Panel value="checks" pt="md">
            <Checks device={device} />
          </Tabs.Panel>
          <Tabs.Panel value="sign-ins" pt="md">
            <SignIns deviceId={id} />
          </Tabs.Panel>
          <Tabs.Panel value="ask" pt="md">
            <Ask key={id} device={device} />
          </Tabs.Panel>
        </Suspense>
      </Tabs>
    </Page>
  )
}

function Lead({ device }: { readonly device: Device }) {
  return (
    <Stack gap={2}>
      <WhySentence deviceId={device.id} />
      {device.deletion_due_at === null ? null : (
        <Text size="sm" className={classes.warning}>
          {texts.why.deletion} <Time at={device.deletion_due_at} />.
        </Text>
      )}
      {device.duplicate_hardware_since === null ? null : (
        <Text size="sm" className={classes.warning}>
          {texts.why.duplicate}
        </Text>
      )}
    </Stack>
  )
}
