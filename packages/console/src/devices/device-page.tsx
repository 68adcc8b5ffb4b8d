/* One device: what is so and why, and what can be done about it. */
import { Skeleton, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { Suspense, type ReactNode } from 'react'
import type { Device } from '../api/generated/types.gen.ts'
import { lazyPart } from '../kit/lazy-part.tsx'
import { LoadedPage } from '../kit/loaded-page.tsx'
import { Page } from '../kit/page.tsx'
import { PageTabs, type PageTab } from '../kit/page-tabs.tsx'
import { Time } from '../kit/time.tsx'
import { DeviceState } from '../kit/tone.tsx'
import { DeviceActions } from './device-actions.tsx'
import { DeviceOverview } from './device-overview.tsx'
import classes from './device-page.module.css'
import { deviceQuery } from './device-queries.ts'
import { WhySentence } from './device-why.tsx'
import type { DeviceTab } from './routes.ts'
import { texts } from './texts.ts'

const Checks = lazyPart(() => import('./device-checks.tsx'), 'DeviceChecks')
const SignIns = lazyPart(() => import('./device-sign-ins.tsx'), 'DeviceSignIns')
const Ask = lazyPart(() => import('./device-ask.tsx'), 'DeviceAsk')

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
  const open = (next: DeviceTab) =>
    void navigate({
      to: '/devices/$id',
      params: { id },
      search: next === 'overview' ? {} : { tab: next },
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
      <PageTabs
        name={texts.tabsOf(device.name)}
        tabs={toTabs(device)}
        value={tab}
        onChange={(next) => open(next as DeviceTab)}
      />
    </Page>
  )
}

function toTabs(device: Device): readonly PageTab[] {
  const { id } = device
  const content: Readonly<Record<DeviceTab, ReactNode>> = {
    overview: <DeviceOverview device={device} />,
    checks: <Checks device={device} />,
    'sign-ins': <SignIns deviceId={id} />,
    ask: <Ask key={id} device={device} />,
  }
  return (Object.keys(content) as DeviceTab[]).map((tab) => ({
    id: tab,
    label: texts.tabs[tab],
    render: () => <Suspense fallback={<Skeleton height={240} />}>{content[tab]}</Suspense>,
  }))
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
