/*
 * Sign-ins under way that an admin must approve: a new device, or one that could not be proven. Each waits ten minutes
 * at most, and the person waits before the screen: the code there says that it is the same sign-in.
 */
import { Button, Code, Group, Text } from '@mantine/core'
import { SignInIcon } from '@primer/octicons-react'
import { useState } from 'react'
import {
  getSignInAttempts,
  postSignInAttemptsByIdApprove,
  postSignInAttemptsByIdDeny,
} from '../api/generated/sdk.gen.ts'
import type { PendingSignInApproval } from '../api/generated/types.gen.ts'
import { ConfirmDialog } from '../kit/confirm.tsx'
import { Facts, Page, Section } from '../kit/page.tsx'
import { personColumn } from '../kit/person-column.tsx'
import { RecordLink } from '../kit/record-link.tsx'
import { ShortTable } from '../kit/short-table.tsx'
import { EmptyState } from '../kit/states.tsx'
import { Time } from '../kit/time.tsx'
import { useAction } from '../kit/use-action.ts'
import type { Column } from '../kit/use-columns.ts'
import { useList } from '../kit/use-list.ts'
import { useMay } from '../shell/session.ts'
import { RequestTabs } from './request-tabs.tsx'
import { texts } from './texts.ts'

const { signIns: words } = texts
const MANAGE_PERMISSION = 'Manage Sign-in'

interface Deciding {
  readonly approval: PendingSignInApproval
  readonly isApproved: boolean
}

export function WaitingSignInsPage() {
  const may = useMay(MANAGE_PERMISSION)
  const [deciding, setDeciding] = useState<Deciding>()
  const list = useList<PendingSignInApproval>(['sign_in_attempts', 'list'], getSignInAttempts)
  const columns = [
    ...COLUMNS,
    {
      id: 'decide',
      header: '',
      narrow: true,
      cell: (approval: PendingSignInApproval) => {
        const isForAdmins = approval.ways.includes('admin_approval')
        const why = isForAdmins ? (may ? undefined : texts.mayNot) : words.notForAdmins
        return (
          <Group gap={4} wrap="nowrap" justify="flex-end">
            {[true, false].map((isApproved) => (
              <Button
                key={String(isApproved)}
                size="compact-xs"
                variant={isApproved ? 'filled' : 'default'}
                disabled={why !== undefined}
                title={why}
                aria-label={words.decide(isApproved, approval.person_email)}
                onClick={() => setDeciding({ approval, isApproved })}
              >
                {isApproved ? texts.approve : texts.deny}
              </Button>
            ))}
          </Group>
        )
      },
    },
  ]
  return (
    <Page title={texts.title}>
      <RequestTabs current="sign_in" />
      <Section title={texts.kinds.sign_in} lead={words.lead} isFlush>
        <ShortTable
          name={texts.kinds.sign_in}
          columns={columns}
          list={list}
          rowId={({ id }) => id}
          empty={
            <EmptyState icon={SignInIcon} title={texts.none}>
              {words.noneHelp}
            </EmptyState>
          }
        />
      </Section>
      <DecideDialog deciding={deciding} onClose={() => setDeciding(undefined)} />
    </Page>
  )
}

const COLUMNS: readonly Column<PendingSignInApproval>[] = [
  personColumn(words.person),
  { id: 'kind', header: words.what, cell: ({ kind }) => words.kinds[kind] },
  {
    id: 'device',
    header: texts.device,
    cell: ({ device_id: id, device_name: name }) => (
      <RecordLink kind="device" id={id}>
        {name}
      </RecordLink>
    ),
  },
  {
    id: 'application',
    header: words.application,
    cell: ({ application_name: name }) => name ?? words.ownPages,
  },
  { id: 'address', header: texts.address, cell: ({ ip_address: address }) => address ?? '–' },
  { id: 'code', header: words.code, narrow: true, cell: ({ code }) => <Code>{code}</Code> },
  { id: 'ends', header: words.ends, cell: ({ expires_at: at }) => <Time at={at} /> },
]

interface DecideDialogProps {
  readonly deciding: Deciding | undefined
  readonly onClose: () => void
}

function DecideDialog({ deciding, onClose }: DecideDialogProps) {
  const decide = useAction({
    run: ({ approval: { id }, isApproved }: Deciding) =>
      (isApproved ? postSignInAttemptsByIdApprove : postSignInAttemptsByIdDeny)({
        path: { id },
        throwOnError: true,
      }),
    done: (_answer, { isApproved }) => words.decided(isApproved),
    changes: [['sign_in_attempts'], ['registration_requests'], ['devices']],
    showsFailure: true,
    onDone: onClose,
  })
  const { approval, isApproved = false } = deciding ?? {}
  return (
    <ConfirmDialog
      isOpen={deciding !== undefined}
      title={words.title(isApproved, approval?.person_email ?? '')}
      label={isApproved ? texts.approve : texts.deny}
      isDanger={!isApproved}
      isPending={decide.isPending}
      error={decide.error}
      onConfirm={() => deciding !== undefined && decide.mutate(deciding)}
      onClose={onClose}
    >
      {approval === undefined ? null : (
        <Facts
          isNarrow
          facts={[
            [words.what, words.kinds[approval.kind]],
            [texts.device, approval.device_name],
            [words.application, approval.application_name ?? words.ownPages],
            [texts.address, approval.ip_address ?? '–'],
          ]}
        />
      )}
      <Text size="sm">{isApproved ? words.approveHelp : words.denyHelp}</Text>
      {isApproved ? (
        <Text size="sm" mt="xs">
          {words.compare} <Code fz="md">{approval?.code}</Code>
        </Text>
      ) : null}
    </ConfirmDialog>
  )
}
