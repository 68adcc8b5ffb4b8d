/* What can be done to a live query: ask, ask again, stop, edit, delete. */
import { Button } from '@mantine/core'
import { PencilIcon, PlayIcon, SquareFillIcon, SyncIcon, TrashIcon } from '@primer/octicons-react'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import {
  deleteLiveQueryCampaignsById,
  patchLiveQueryCampaignsById,
} from '../api/generated/sdk.gen.ts'
import type { LiveQueryCampaign } from '../api/generated/types.gen.ts'
import { ActionDialog, ConfirmDialog } from '../kit/confirm.tsx'
import { useAction } from '../kit/use-action.ts'
import { useMay } from '../shell/session.ts'
import { texts } from './texts.ts'

type Dialog = 'again' | 'delete'

export function CampaignActions({ campaign }: { readonly campaign: LiveQueryCampaign }) {
  const { id, name, published } = campaign
  const [dialog, setDialog] = useState<Dialog>()
  const navigate = useNavigate()
  const may = useMay('Create Live Query')
  const path = { id }
  const close = () => setDialog(undefined)
  const changes = [['live_query_campaigns']] as const
  const publish = (value: boolean) =>
    patchLiveQueryCampaignsById({ path, body: { published: value }, throwOnError: true })
  const stop = useAction({ run: () => publish(false), done: texts.stoppedNow, changes })
  const ask = useAction({
    run: async () => {
      // What is published is asked anew once it has been withdrawn.
      if (published) await publish(false)
      return publish(true)
    },
    done: texts.askedNow,
    changes,
    onDone: close,
  })
  const shared = { disabled: !may, title: may ? undefined : texts.askPermission }
  const isFirst = campaign.asked_at === null
  return (
    <>
      <Button
        {...shared}
        variant="default"
        leftSection={<TrashIcon size={14} />}
        onClick={() => setDialog('delete')}
      >
        {texts.delete}
      </Button>
      <Button
        {...shared}
        variant="default"
        leftSection={<PencilIcon size={14} />}
        onClick={() => void navigate({ to: '/live-queries/$id/edit', params: { id } })}
      >
        {texts.edit}
      </Button>
      {published ? (
        <Button
          {...shared}
          variant="default"
          leftSection={<SquareFillIcon size={14} />}
          loading={stop.isPending}
          onClick={() => stop.mutate()}
        >
          {texts.stop}
        </Button>
      ) : null}
      <Button
        {...shared}
        leftSection={isFirst ? <PlayIcon size={14} /> : <SyncIcon size={14} />}
        loading={ask.isPending}
        onClick={() => (isFirst ? ask.mutate() : setDialog('again'))}
      >
        {isFirst ? texts.start : texts.askAgain}
      </Button>
      <ConfirmDialog
        isOpen={dialog === 'again'}
        title={texts.askAgainTitle}
        label={texts.askAgain}
        isPending={ask.isPending}
        error={ask.error}
        onConfirm={() => ask.mutate()}
        onClose={close}
      >
        {texts.askAgainText}
      </ConfirmDialog>
      <ActionDialog
        isOpen={dialog === 'delete'}
        title={texts.deleteTitle(name)}
        label={texts.deleteLabel}
        isDanger
        run={() => deleteLiveQueryCampaignsById({ path, throwOnError: true })}
        done={texts.deleted}
        changes={[['live_query_campaigns', 'list']]}
        onDone={() => void navigate({ to: '/live-queries' })}
        onClose={close}
      >
        {texts.deleteText}
      </ActionDialog>
    </>
  )
}
