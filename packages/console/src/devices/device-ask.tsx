/* Asks one device a question in SQL, and shows its rows as soon as it has answered. */
import { Alert, Button, Group, Loader, Stack, Text, UnstyledButton } from '@mantine/core'
import { DownloadIcon, PlayIcon } from '@primer/octicons-react'
import { useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { ApiError } from '../api/client.ts'
import {
  getLiveQueryCampaigns,
  getLiveQueryCampaignsById,
  getLiveQueryCampaignsByIdDevices,
  getLiveQueryCampaignsByIdQueryResults,
  patchLiveQueryCampaignsById,
  postLiveQueryCampaigns,
} from '../api/generated/sdk.gen.ts'
import type { Device, LiveQueryCampaign, LiveQueryResult } from '../api/generated/types.gen.ts'
import { Fault } from '../kit/confirm.tsx'
import { toCsv } from '../kit/csv.ts'
import { useHeldPage } from '../kit/held-page.ts'
import { Section } from '../kit/page.tsx'
import { listColumns, RowsTable } from '../kit/rows-table.tsx'
import { saveFile } from '../kit/save-file.ts'
import { nameShortcut } from '../kit/shortcut.ts'
import { SqlEditor } from '../kit/sql-editor.tsx'
import { useAction } from '../kit/use-action.ts'
import { useMay, useSession } from '../shell/session.ts'
import classes from './device-page.module.css'
import { texts } from './texts.ts'

/** A live message tells of the answer; this is for when the live connection is cut. */
const POLL_MS = 15_000
/** That an agent has fetched a question is told to nobody. */
const SENT_MS = 3_000

const EXAMPLES = [
  ['Uptime', 'select days, hours, minutes from uptime'],
  ['Who is logged in', 'select user, tty, host, type from logged_in_users'],
  [
    'Largest processes',
    'select pid, name, resident_size from processes order by resident_size desc limit 10',
  ],
  [
    'Listening ports',
    'select p.name, l.port, l.protocol, l.address from listening_ports l join processes p using (pid)',
  ],
] as const

/** A question that was put: its campaign, and when. */
interface Asked {
  readonly campaign: LiveQueryCampaign
  readonly at: number
}

export function DeviceAsk({ device }: { readonly device: Device }) {
  const { sql: given = EXAMPLES[0][1] } = useSearch({ from: '/frame/devices/$id' })
  const navigate = useNavigate()
  const [sql, setSql] = useState(given)
  useHeldPage(sql !== given)
  const [asked, setAsked] = useState<Asked>()
  const may = useMay('Create Live Query')
  const session = useSession()
  const ask = useAction({
    run: () => putQuestion(device, session?.admin.email ?? '', sql),
    changes: [['live_query_campaigns', 'list']],
    showsFailure: true,
    onDone: (campaign) => {
      setAsked({ campaign, at: Date.now() })
      void navigate({
        to: '/devices/$id',
        params: { id: device.id },
        search: { tab: 'ask', sql },
        replace: true,
      })
    },
  })
  const faultOfSql = ask.error instanceof ApiError ? ask.error.fields['sql'] : undefined
  const run = () => {
    if (may && !ask.isPending) ask.mutate()
  }
  return (
    <Section title={texts.ask} lead={texts.askLead}>
      <Stack gap="sm">
        <SqlEditor
          label={texts.askSql}
          value={sql}
          onChange={setSql}
          onRun={run}
          error={faultOfSql}
          lines={5}
        />
        <Group justify="space-between" gap="sm">
          <Group gap={6}>
            <Text size="xs" c="dimmed">
              {texts.examples}
            </Text>
            {EXAMPLES.map(([label, example]) => (
              <UnstyledButton
                key={label}
                className={classes.example}
                onClick={() => setSql(example)}
              >
                {label}
              </UnstyledButton>
            ))}
          </Group>
          <Button
            leftSection={<PlayIcon size={14} />}
            rightSection={<kbd className={classes.key}>{nameShortcut('⏎')}</kbd>}
            disabled={!may || sql.trim() === ''}
            title={may ? undefined : texts.askPermission}
            loading={ask.isPending}
            onClick={run}
          >
            {texts.run}
          </Button>
        </Group>
        {faultOfSql === undefined ? <Fault error={ask.error} /> : null}
        {asked === undefined ? null : (
          <Answer key={asked.at} asked={asked} deviceName={device.name} />
        )}
      </Stack>
    </Section>
  )
}

/**
 * A device has one campaign of each admin for what it is asked on its page; each question is a new revision of it,
 * so that the list of live queries does not fill with them, and the question of another admin ends none.
 */
async function putQuestion(device: Device, email: string, sql: string): Promise<LiveQueryCampaign> {
  const name = texts.askName(device.name, email)
  const query = `name:"${name.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`
  const { data } = await getLiveQueryCampaigns({ query: { query }, throwOnError: true })
  const known = data.data.find(({ targeted_device_ids: ids }) => ids.map(String)[0] === device.id)
  const id = Number(device.id)
  if (known === undefined) {
    const body = { name, sql, targeted_device_ids: [id], published: true }
    return (await postLiveQueryCampaigns({ body, throwOnError: true })).data
  }
  // The same question is put again only when it is withdrawn before.
  if (known.published && known.osquery_sql === sql) {
    await patchLiveQueryCampaignsById({
      path: { id: known.id },
      body: { published: false },
      throwOnError: true,
    })
  }
  const body = { sql, published: true }
  return (await patchLiveQueryCampaignsById({ path: { id: known.id }, body, throwOnError: true }))
    .data
}

function Answer({ asked, deviceName }: { readonly asked: Asked; readonly deviceName: string }) {
  const { campaign, at } = asked
  const key = ['live_query_campaigns', campaign.id, 'answer', campaign.revision] as const
  const { data: answer, error } = useQuery({
    queryKey: key,
    queryFn: async ({ signal }) => {
      const path = { id: campaign.id }
      const { data } = await getLiveQueryCampaignsByIdQueryResults({
        path,
        signal,
        throwOnError: true,
      })
      const own = data.data.find(({ revision }) => revision === campaign.revision)
      if (own !== undefined) return { result: own, took: Date.now() - at }
      const now = await getLiveQueryCampaignsById({ path, signal, throwOnError: true })
      return now.data.revision === campaign.revision ? null : 'replaced'
    },
    refetchInterval: ({ state }) => (state.data === null ? POLL_MS : false),
    staleTime: 0,
    structuralSharing: (before, next) => before ?? next,
  })
  if (answer === 'replaced') {
    return (
      <Text size="sm" role="status" p="xs">
        {texts.askReplaced}
      </Text>
    )
  }
  if (answer !== null && answer !== undefined) {
    return <Rows result={answer.result} took={answer.took} deviceName={deviceName} />
  }
  return (
    <>
      <Waiting campaign={campaign} />
      <Fault error={error} />
    </>
  )
}

/** How far the question has come. */
function Waiting({ campaign }: { readonly campaign: LiveQueryCampaign }) {
  const { data: progress = 'queued' } = useQuery({
    queryKey: ['live_query_campaigns', campaign.id, 'asked-device', campaign.revision],
    queryFn: async ({ signal }) => {
      const path = { id: campaign.id }
      const { data } = await getLiveQueryCampaignsByIdDevices({ path, signal, throwOnError: true })
      return data.data[0]?.progress ?? 'queued'
    },
    refetchInterval: ({ state }) => (state.data === 'offline' ? POLL_MS : SENT_MS),
  })
  return (
    <Group gap="xs" role="status" p="xs" wrap="nowrap">
      <Loader size={16} />
      <Text size="sm">{texts.asked[progress]}</Text>
    </Group>
  )
}

interface RowsProps {
  readonly result: LiveQueryResult
  /** In milliseconds. */
  readonly took: number
  readonly deviceName: string
}

function Rows({ result, took, deviceName }: RowsProps) {
  const { results: rows, error_message: failure, warning_message: warning } = result
  if (failure !== null) {
    const isDenylisted = failure.includes('denylisted')
    return (
      <Alert color="red" role="alert">
        {isDenylisted ? texts.denylisted : failure}
      </Alert>
    )
  }
  const save = () => {
    const csv = toCsv(listColumns(rows), rows)
    saveFile(new Blob([csv], { type: 'text/csv;charset=utf-8' }), `${deviceName}.csv`)
  }
  return (
    <div className={classes.well} role="status">
      <div className={classes.answerHead}>
        <span>{texts.answered(rows.length, (took / 1000).toFixed(1))}</span>
        {rows.length === 0 ? null : (
          <Button
            variant="subtle"
            size="xs"
            leftSection={<DownloadIcon size={14} />}
            onClick={save}
          >
            {texts.export}
          </Button>
        )}
      </div>
      {warning === null ? null : (
        <Text size="sm" px="md" pb="xs">
          {warning}
        </Text>
      )}
      {rows.length === 0 ? (
        <Text size="sm" c="dimmed" px="md" pb="sm">
          {texts.noAnswerRows}
        </Text>
      ) : (
        <RowsTable name={texts.ask} rows={rows} />
      )}
    </div>
  )
}
