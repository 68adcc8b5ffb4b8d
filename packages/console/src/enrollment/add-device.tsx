/* The guide that adds a device: a platform, its package, and the wait until the device is there. */
import { Anchor, Button, Group, Loader, SegmentedControl, Stack, Text } from '@mantine/core'
import { CheckCircleFillIcon, DownloadIcon } from '@primer/octicons-react'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { getDevices, getPackages, getPackagesByIdDownload } from '../api/generated/sdk.gen.ts'
import type { Package } from '../api/generated/types.gen.ts'
import { CodeBlock } from '../kit/code-block.tsx'
import { Section } from '../kit/page.tsx'
import { saveFile } from '../kit/save-file.ts'
import { useAction } from '../kit/use-action.ts'
import { useMay } from '../shell/session.ts'
import { texts } from './texts.ts'

type Platform = Package['platform']

const PLATFORMS = Object.keys(texts.platforms) as Platform[]
const POLL_MS = 5_000

export function AddDevice() {
  const [platform, setPlatform] = useState<Platform>('darwin')
  /** The newest device when the package was downloaded; null where there was none. */
  const [newest, setNewest] = useState<string | null>()
  const mayDownload = useMay('Download Packages')
  const { data } = useQuery({
    queryKey: ['enrollment_secrets', 'packages'],
    queryFn: async ({ signal }) => (await getPackages({ signal, throwOnError: true })).data.data,
  })
  const chosen = data?.find((candidate) => candidate.platform === platform)
  const download = useAction({
    run: async ({ id }: Package) => {
      setNewest((await readNewestDevice())?.id ?? null)
      const { data: file } = await getPackagesByIdDownload({
        path: { id },
        parseAs: 'blob',
        throwOnError: true,
      })
      saveFile(file, `heliograph-${platform}.tar.gz`)
    },
    changes: [['enrollment_secrets']],
  })
  return (
    <Section title={texts.addTitle} lead={texts.addLead}>
      <Stack>
        <Group>
          <SegmentedControl
            aria-label={texts.addTitle}
            data={PLATFORMS.map((value) => ({ value, label: texts.platforms[value] }))}
            value={platform}
            onChange={(value) => setPlatform(value)}
          />
          <Button
            leftSection={<DownloadIcon />}
            disabled={chosen === undefined || !mayDownload}
            title={mayDownload ? undefined : texts.mayNotDownload}
            loading={download.isPending}
            onClick={() => chosen !== undefined && download.mutate(chosen)}
          >
            {texts.download}
          </Button>
          {chosen === undefined ? null : (
            <Text size="xs" c="dimmed">
              {texts.version} <code>{chosen.version.slice(0, 12)}</code>
            </Text>
          )}
        </Group>
        <div>
          <Text size="sm" mb={6}>
            {texts.steps[platform]}
          </Text>
          <CodeBlock name={texts.addTitle} value={texts.commands[platform]} />
        </div>
        {newest === undefined ? null : <Arrival after={newest} />}
      </Stack>
    </Section>
  )
}

/** Waits until there is a device that is newer than the newest of then. */
function Arrival({ after }: { readonly after: string | null }) {
  const { data } = useQuery({
    queryKey: ['devices', 'list', 'arrival', after],
    queryFn: async ({ signal }) => {
      const device = await readNewestDevice(signal)
      return device === undefined || device.id === after ? null : device
    },
    refetchInterval: ({ state }) => (state.data === null ? POLL_MS : false),
  })
  if (data === null || data === undefined) {
    return (
      <Group gap="sm" role="status">
        <Loader size="sm" />
        <div>
          <Text size="sm" fw={600}>
            {texts.waiting}
          </Text>
          <Text size="xs" c="dimmed">
            {texts.waitingHelp}
          </Text>
        </div>
      </Group>
    )
  }
  return (
    <Group gap="sm" role="status" c="var(--helio-good)">
      <CheckCircleFillIcon size={20} />
      <Text size="sm" fw={600}>
        {texts.arrived(data.name)}
      </Text>
      <Anchor component={Link} to={`/devices/${data.id}`} size="sm">
        {texts.open}
      </Anchor>
    </Group>
  )
}

async function readNewestDevice(signal?: AbortSignal) {
  const { data } = await getDevices({
    query: { order: 'desc', per_page: 1 },
    ...(signal === undefined ? {} : { signal }),
    throwOnError: true,
  })
  return data.data[0]
}
