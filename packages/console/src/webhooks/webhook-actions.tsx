/* What can be done to a webhook from its list and from its page. */
import { notifications } from '@mantine/notifications'
import { WebhookIcon } from '@primer/octicons-react'
import {
  deleteWebhooksById,
  patchWebhooksById,
  postWebhooksByIdTest,
} from '../api/generated/sdk.gen.ts'
import type { Webhook } from '../api/generated/types.gen.ts'
import { useAction } from '../kit/use-action.ts'
import { useMay } from '../shell/session.ts'
import { formatDuration } from '../streams/format.ts'
import { ReceiverMenu } from '../streams/receiver-menu.tsx'
import { texts } from './texts.ts'
import { WEBHOOKS_PERMISSION } from './webhook-queries.ts'

interface WebhookMenuProps {
  readonly webhook: Webhook
  readonly onDeleted?: () => void
}

export function WebhookMenu({ webhook, onDeleted }: WebhookMenuProps) {
  const { id, name, enabled } = webhook
  const test = useTestWebhook(id)
  const toggle = useAction({
    run: (next: boolean) =>
      patchWebhooksById({ path: { id }, body: { enabled: next }, throwOnError: true }),
    done: (_, next) => (next ? texts.switchedOn(name) : texts.switchedOff(name)),
    changes: [['webhooks']],
  })
  const remove = useAction({
    run: () => deleteWebhooksById({ path: { id }, throwOnError: true }),
    done: texts.deleted(name),
    changes: [['webhooks', 'list']],
    showsFailure: true,
    onDone: () => onDeleted?.(),
  })
  return (
    <ReceiverMenu
      words={texts}
      name={name}
      path={`/signals/webhooks/${id}`}
      isEnabled={enabled}
      may={useMay(WEBHOOKS_PERMISSION)}
      icon={<WebhookIcon />}
      onTest={() => test.mutate()}
      toggle={toggle}
      remove={remove}
    />
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
