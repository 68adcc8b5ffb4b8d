/* What can be done to a stream from its list and from its page. */
import { Menu } from '@mantine/core'
import { BroadcastIcon, ListUnorderedIcon } from '@primer/octicons-react'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { deleteSsfStreamsById, patchSsfStreamsById } from '../api/generated/sdk.gen.ts'
import type { Stream } from '../api/generated/types.gen.ts'
import { useAction } from '../kit/use-action.ts'
import { useMay } from '../shell/session.ts'
import { ReceiverMenu } from './receiver-menu.tsx'
import { STREAMS_PERMISSION } from './stream-queries.ts'
import { TestStreamDialog } from './test-stream.tsx'
import { texts } from './texts.ts'

interface StreamMenuProps {
  readonly stream: Stream
  readonly onDeleted?: () => void
}

/** Actions: view, view events, edit, switch on or off, test, delete. */
export function StreamMenu({ stream, onDeleted }: StreamMenuProps) {
  const [isTesting, setTesting] = useState(false)
  const may = useMay(STREAMS_PERMISSION)
  const navigate = useNavigate()
  const { id, name, enabled } = stream
  const toggle = useAction({
    run: (next: boolean) =>
      patchSsfStreamsById({ path: { id }, body: { enabled: next }, throwOnError: true }),
    done: (_, next) => (next ? texts.switchedOn(name) : texts.switchedOff(name)),
    changes: [['ssf_streams']],
  })
  const remove = useAction({
    run: () => deleteSsfStreamsById({ path: { id }, throwOnError: true }),
    done: texts.deleted(name),
    changes: [['ssf_streams', 'list']],
    showsFailure: true,
    onDone: () => onDeleted?.(),
  })
  return (
    <>
      <ReceiverMenu
        words={texts}
        name={name}
        path={`/signals/streams/${id}`}
        isEnabled={enabled}
        may={may}
        icon={<BroadcastIcon />}
        onTest={() => setTesting(true)}
        toggle={toggle}
        remove={remove}
      >
        <Menu.Item
          leftSection={<ListUnorderedIcon />}
          onClick={() =>
            void navigate({
              to: '/signals/streams/$streamId',
              params: { streamId: id },
              search: { tab: 'deliveries' },
            })
          }
        >
          {texts.viewEvents}
        </Menu.Item>
      </ReceiverMenu>
      <TestStreamDialog stream={stream} isOpen={isTesting} onClose={() => setTesting(false)} />
    </>
  )
}
