import { Button, Drawer, Group, Stack } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { ListLink } from '../kit/list-link.tsx'
import { Facts } from '../kit/page.tsx'
import { Loaded } from '../kit/states.tsx'
import { Time } from '../kit/time.tsx'
import { REQUEST_KINDS, type Decision, type InboxRequest } from './request-kinds.ts'
import type { Kind } from './request-search.ts'
import { RequestState } from './request-state.tsx'
import classes from './requests.module.css'
import { texts } from './texts.ts'

interface RequestDrawerProps {
  readonly kind: Kind
  /** The request that is open; none is when it is left out. */
  readonly id: string | undefined
  /** The row of the list, until the request has been read itself. */
  readonly known: InboxRequest | undefined
  readonly mayDecide: boolean
  /** A question lies over it: Escape closes that alone. */
  readonly isCovered: boolean
  readonly onDecide: (status: Decision['status']) => void
  readonly onClose: () => void
}

/** One request, with what is needed to decide it. */
export function RequestDrawer(props: RequestDrawerProps) {
  const { kind, id, known, mayDecide, isCovered, onDecide, onClose } = props
  const read = useQuery({
    queryKey: [`${kind}_requests`, id ?? ''],
    queryFn: ({ signal }) => REQUEST_KINDS[kind].find(id ?? '', signal),
    enabled: id !== undefined,
  })
  const query = { ...read, data: read.data ?? known }
  return (
    <Drawer
      opened={id !== undefined}
      onClose={onClose}
      position="right"
      size={460}
      title={texts.details}
      closeOnEscape={!isCovered}
    >
      <Loaded query={query} height={240}>
        {(request) => (
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
      </Loaded>
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
