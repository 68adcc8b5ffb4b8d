import { Button, Drawer, Group, Stack } from '@mantine/core'
import { ListLink } from '../kit/list-link.tsx'
import { Facts } from '../kit/page.tsx'
import { Time } from '../kit/time.tsx'
import type { Decision, InboxRequest } from './request-kinds.ts'
import { RequestState } from './request-state.tsx'
import classes from './requests.module.css'
import { texts } from './texts.ts'

interface RequestDrawerProps {
  readonly request: InboxRequest | undefined
  readonly mayDecide: boolean
  readonly onDecide: (status: Decision['status']) => void
  readonly onClose: () => void
}

/** One request, with what is needed to decide it. */
export function RequestDrawer({ request, mayDecide, onDecide, onClose }: RequestDrawerProps) {
  return (
    <Drawer
      opened={request !== undefined}
      onClose={onClose}
      position="right"
      size={460}
      title={texts.details}
    >
      {request === undefined ? null : (
        <Stack gap="md">
          <RequestState status={request.status} />
          <blockquote className={classes.message}>{request.message}</blockquote>
          <Facts facts={factsOf(request)} />
          {request.issues.length === 0 ? null : (
            <ul className={classes.issues} aria-label={texts.issues}>
              {request.issues.map(({ id, title }) => (
                <li key={id}>
                  <ListLink to={`/issues/${id}`}>{title}</ListLink>
                </li>
              ))}
            </ul>
          )}
          {request.isWaiting && mayDecide ? (
            <Group gap="xs">
              <Button onClick={() => onDecide('approved')}>{texts.approve}</Button>
              <Button variant="default" onClick={() => onDecide('denied')}>
                {texts.deny}
              </Button>
            </Group>
          ) : null}
        </Stack>
      )}
    </Drawer>
  )
}

function factsOf(request: InboxRequest) {
  const { from, device } = request
  return [
    [texts.requester, <Place key="from" {...from} />],
    [texts.device, <Place key="device" {...device} />],
    [texts.asked, <Time key="asked" at={request.askedAt} isExact />],
    [texts.expires, <Time key="expires" at={request.expiresAt} absent={texts.never} />],
    ...(request.decidedAt === null
      ? []
      : [
          [
            texts.decidedBy,
            <span key="decided">
              <Time at={request.decidedAt} /> {request.decidedBy}
            </span>,
          ] as const,
        ]),
    ...(request.internalNote === null ? [] : [[texts.internalNote, request.internalNote] as const]),
    ...(request.personNote === null ? [] : [[texts.personNote, request.personNote] as const]),
  ] as const
}

/** A name that leads to its page, where there is one. */
export function Place({ label, path }: InboxRequest['from']) {
  return path === null ? label : <ListLink to={path}>{label}</ListLink>
}
