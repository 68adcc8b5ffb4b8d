/* What can be done about a delivery: send it again, all like it, from it on, or not at all. */
import { Button, Menu } from '@mantine/core'
import {
  CircleSlashIcon,
  HistoryIcon,
  PauseIcon,
  SyncIcon,
  XCircleIcon,
} from '@primer/octicons-react'
import { useState } from 'react'
import {
  patchWebhooksById,
  postSsfStreamsByIdDeliveriesByEventIdResend,
  postSsfStreamsByIdDiscard,
  postSsfStreamsByIdRedrive,
  postSsfStreamsByIdReplay,
  postSsfStreamsStatus,
  postWebhooksByIdDeliveriesByEventIdResend,
  postWebhooksByIdDiscard,
  postWebhooksByIdRedrive,
} from '../api/generated/sdk.gen.ts'
import type { DeliveryDetails } from '../api/generated/types.gen.ts'
import { ActionDialog } from '../kit/confirm.tsx'
import { MoreMenu } from '../kit/more-menu.tsx'
import { useAction } from '../kit/use-action.ts'
import { useMay } from '../shell/session.ts'
import { STREAMS_PERMISSION } from '../streams/stream-queries.ts'
import type { DeliveryOwner } from './delivery-table.tsx'
import { texts } from './texts.ts'

const { actions: words } = texts
type Verb = 'redrive' | 'replay' | 'discard' | 'pause'

interface DeliveryActionsProps {
  readonly owner: DeliveryOwner
  readonly delivery: DeliveryDetails
}

export function DeliveryActions({ owner, delivery }: DeliveryActionsProps) {
  const [verb, setVerb] = useState<Verb>()
  const isStream = owner.kind === 'streams'
  const may = useMay(isStream ? STREAMS_PERMISSION : 'Manage Webhooks')
  const resend = useAction({
    run: () => sendAgain(owner, delivery.event_id),
    done: words.resent,
    changes: [['deliveries']],
  })
  return (
    <>
      <Button
        leftSection={<SyncIcon />}
        disabled={!may}
        loading={resend.isPending}
        onClick={() => resend.mutate()}
      >
        {words.resend}
      </Button>
      <MoreMenu label={texts.page.more} isDisabled={!may}>
        <Menu.Item leftSection={<SyncIcon />} onClick={() => setVerb('redrive')}>
          {words.redrive}
        </Menu.Item>
        {isStream ? (
          <Menu.Item leftSection={<HistoryIcon />} onClick={() => setVerb('replay')}>
            {words.replay}
          </Menu.Item>
        ) : null}
        <Menu.Item
          leftSection={isStream ? <PauseIcon /> : <CircleSlashIcon />}
          onClick={() => setVerb('pause')}
        >
          {isStream ? words.pause : words.off}
        </Menu.Item>
        <Menu.Item
          leftSection={<XCircleIcon />}
          disabled={delivery.state === 'delivered' || delivery.state === 'discarded'}
          onClick={() => setVerb('discard')}
        >
          {words.discard}
        </Menu.Item>
      </MoreMenu>
      {verb === undefined ? null : (
        <VerbDialog
          key={verb}
          verb={verb}
          owner={owner}
          delivery={delivery}
          onClose={() => setVerb(undefined)}
        />
      )}
    </>
  )
}

interface VerbDialogProps extends DeliveryActionsProps {
  readonly verb: Verb
  readonly onClose: () => void
}

function VerbDialog({ verb, owner, delivery, onClose }: VerbDialogProps) {
  const { title, help, label, isDanger } = wordsOf(verb, owner)
  return (
    <ActionDialog
      isOpen
      title={title}
      label={label}
      isDanger={isDanger}
      run={() => perform(verb, owner, delivery)}
      done={(told) => told}
      changes={[['deliveries'], ['ssf_streams'], ['webhooks']]}
      onClose={onClose}
    >
      {help}
    </ActionDialog>
  )
}

function wordsOf(verb: Verb, { kind }: DeliveryOwner) {
  const isOff = verb === 'pause' && kind === 'webhooks'
  const isDanger = verb === 'discard' || isOff
  switch (verb) {
    case 'redrive':
      return { title: words.redriveTitle, help: words.redriveHelp, label: words.redrive, isDanger }
    case 'replay':
      return { title: words.replayTitle, help: words.replayHelp, label: words.replay, isDanger }
    case 'discard':
      return { title: words.discardTitle, help: words.discardHelp, label: words.discard, isDanger }
    case 'pause':
      return isOff
        ? { title: words.offTitle, help: words.offHelp, label: words.off, isDanger }
        : { title: words.pauseTitle, help: words.pauseHelp, label: words.pause, isDanger }
  }
}

function sendAgain({ kind, id }: DeliveryOwner, eventId: string) {
  const request = { path: { id, event_id: eventId }, throwOnError: true } as const
  return kind === 'streams'
    ? postSsfStreamsByIdDeliveriesByEventIdResend(request)
    : postWebhooksByIdDeliveriesByEventIdResend(request)
}

/** Does it, and answers what is told. */
async function perform(
  verb: Verb,
  owner: DeliveryOwner,
  delivery: DeliveryDetails,
): Promise<string> {
  const path = { id: owner.id }
  const isStream = owner.kind === 'streams'
  switch (verb) {
    case 'redrive': {
      const request = { path, body: {}, throwOnError: true } as const
      const { data } = isStream
        ? await postSsfStreamsByIdRedrive(request)
        : await postWebhooksByIdRedrive(request)
      return words.redriven(data.count)
    }
    case 'replay': {
      const since = Math.floor(Date.parse(delivery.created_at) / 1000)
      const { data } = await postSsfStreamsByIdReplay({
        path,
        body: { from_time: since },
        throwOnError: true,
      })
      return words.replayed(data.queued)
    }
    case 'discard': {
      const body = { event_ids: [delivery.event_id] }
      await (isStream
        ? postSsfStreamsByIdDiscard({ path, body, throwOnError: true })
        : postWebhooksByIdDiscard({ path, body, throwOnError: true }))
      return words.discarded
    }
    case 'pause':
      return isStream ? pauseStream(owner.id) : switchOff(owner.id)
  }
}

async function pauseStream(id: string): Promise<string> {
  await postSsfStreamsStatus({ body: { stream_id: id, status: 'paused' }, throwOnError: true })
  return words.paused
}

async function switchOff(id: string): Promise<string> {
  await patchWebhooksById({ path: { id }, body: { enabled: false }, throwOnError: true })
  return words.offDone
}
