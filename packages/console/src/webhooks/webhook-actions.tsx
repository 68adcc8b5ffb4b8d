/* What can be done to a webhook from its list and from its page. */
import { ActionIcon, Menu } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import {
  CircleSlashIcon,
  EyeIcon,
  KebabHorizontalIcon,
  PaperAirplaneIcon,
  PencilIcon,
  TrashIcon,
  WebhookIcon,
} from '@primer/octicons-react'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import {
  deleteWebhooksById,
  patchWebhooksById,
  postWebhooksByIdTest,
} from '../api/generated/sdk.gen.ts'
import type { Webhook } from '../api/generated/types.gen.ts'
import { ConfirmDialog } from '../kit/confirm.tsx'
import { useAction } from '../kit/use-action.ts'
import { useMay } from '../shell/session.ts'
import { formatDuration } from '../streams/format.ts'
import { texts } from './texts.ts'
import { WEBHOOKS_PERMISSION } from './webhook-queries.ts'

interface WebhookMenuProps {
  readonly webhook: Webhook
  readonly onDeleted?: () => void
}

export function WebhookMenu({ webhook, onDeleted }: WebhookMenuProps) {
  const [dialog, setDialog] = useState<'delete' | 'off'>()
  const may = useMay(WEBHOOKS_PERMISSION)
  const close = () => setDialog(undefined)
  const { id, name, enabled } = webhook
  const test = useTestWebhook(id)
  const toggle = useAction({
    run: (next: boolean) =>
      patchWebhooksById({ path: { id }, body: { enabled: next }, throwOnError: true }),
    done: (_, next) => (next ? texts.switchedOn(name) : texts.switchedOff(name)),
    changes: [['webhooks']],
    onDone: close,
  })
  const remove = useAction({
    run: () => deleteWebhooksById({ path: { id }, throwOnError: true }),
    done: texts.deleted(name),
    changes: [['webhooks', 'list']],
    showsFailure: true,
    onDone: () => {
      close()
      onDeleted?.()
    },
  })
  return (
    <>
      <Menu position="bottom-end" width={200}>
        <Menu.Target>
          <ActionIcon aria-label={texts.actionsOf(name)}>
            <KebabHorizontalIcon />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item component={Link} to={`/signals/webhooks/${id}`} leftSection={<EyeIcon />}>
            {texts.view}
          </Menu.Item>
          <Menu.Item
            component={Link}
            to={`/signals/webhooks/${id}/edit`}
            leftSection={<PencilIcon />}
            disabled={!may}
          >
            {texts.edit}
          </Menu.Item>
          <Menu.Item
            leftSection={<PaperAirplaneIcon />}
            disabled={!may}
            onClick={() => test.mutate()}
          >
            {texts.test}
          </Menu.Item>
          <Menu.Item
            leftSection={enabled ? <CircleSlashIcon /> : <WebhookIcon />}
            disabled={!may}
            onClick={() => (enabled ? setDialog('off') : toggle.mutate(true))}
          >
            {enabled ? texts.switchOff : texts.switchOn}
          </Menu.Item>
          <Menu.Divider />
          <Menu.Item
            color="red"
            leftSection={<TrashIcon />}
            disabled={!may}
            onClick={() => setDialog('delete')}
          >
            {texts.delete}
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      <ConfirmDialog
        isOpen={dialog === 'off'}
        title={texts.switchOffTitle(name)}
        label={texts.switchOffLabel}
        isDanger
        isPending={toggle.isPending}
        error={toggle.error}
        onConfirm={() => toggle.mutate(false)}
        onClose={close}
      >
        {texts.switchOffHelp}
      </ConfirmDialog>
      <ConfirmDialog
        isOpen={dialog === 'delete'}
        title={texts.deleteTitle(name)}
        label={texts.deleteLabel}
        typed={name}
        isDanger
        isPending={remove.isPending}
        error={remove.error}
        onConfirm={() => remove.mutate()}
        onClose={close}
      >
        {texts.deleteHelp}
      </ConfirmDialog>
    </>
  )
}

/** Sends a test event and tells what the receiver said. */
export function useTestWebhook(id: string) {
  return useAction({
    run: async () => (await postWebhooksByIdTest({ path: { id }, throwOnError: true })).data,
    changes: [['webhooks', id], ['deliveries']],
    onDone: ({ success, response_code: code, duration_ms: ms, reason }) =>
      void notifications.show({
        color: success ? 'green' : 'red',
        message: success
          ? texts.tested(code, formatDuration(ms))
          : [texts.testFailed(code), reason].filter((part) => part !== null).join(' '),
        autoClose: 10_000,
      }),
  })
}
