/* The secrets by which devices enroll. */
import { Button, Group } from '@mantine/core'
import { StackIcon } from '@primer/octicons-react'
import { useMemo, useState } from 'react'
import { deleteEnrollmentSecretsById, getEnrollmentSecrets } from '../api/generated/sdk.gen.ts'
import type { EnrollmentSecret, EnrollmentSecretWithText } from '../api/generated/types.gen.ts'
import { ConfirmDialog } from '../kit/confirm.tsx'
import { CreateButton } from '../kit/create-button.tsx'
import { DataTable, type Column } from '../kit/data-table.tsx'
import { IssuedSecretDialog } from '../kit/secret.tsx'
import { EmptyState } from '../kit/states.tsx'
import { Time } from '../kit/time.tsx'
import { StateBadge, type Tone } from '../kit/tone.tsx'
import { useAction } from '../kit/use-action.ts'
import { useList } from '../kit/use-list.ts'
import { useMay } from '../shell/session.ts'
import { CreateSecretDialog } from './create-secret-dialog.tsx'
import classes from './enrollment.module.css'
import { texts } from './texts.ts'

const TONES: Readonly<Record<EnrollmentSecret['state'], Tone>> = {
  live: 'good',
  nearly_used_up: 'warn',
  used_up: 'unknown',
  expired: 'unknown',
  revoked: 'bad',
}

export function EnrollmentSecrets() {
  const mayManage = useMay('Manage Enrollment')
  const list = useList(['enrollment_secrets', 'list'], (page) => getEnrollmentSecrets(page))
  const [isCreating, setCreating] = useState(false)
  const [issued, setIssued] = useState<EnrollmentSecretWithText>()
  const [ending, setEnding] = useState<EnrollmentSecret>()
  const columns = useMemo(() => columnsOf(mayManage, setEnding), [mayManage])
  const end = useAction({
    run: ({ id }: EnrollmentSecret) =>
      deleteEnrollmentSecretsById({ path: { id }, throwOnError: true }),
    done: texts.ended,
    changes: [['enrollment_secrets']],
    showsFailure: true,
    onDone: () => setEnding(undefined),
  })
  return (
    <div className={classes.secrets}>
      <DataTable
        name={texts.secrets}
        columns={columns}
        list={list}
        rowId={({ id }) => id}
        toolbar={<strong>{texts.secrets}</strong>}
        actions={
          <CreateButton may={mayManage} refusal={texts.mayNot} onClick={() => setCreating(true)}>
            {texts.create}
          </CreateButton>
        }
        empty={
          <EmptyState icon={StackIcon} title={texts.none}>
            {texts.noneHelp}
          </EmptyState>
        }
      />
      <CreateSecretDialog
        isOpen={isCreating}
        onClose={() => setCreating(false)}
        onIssued={setIssued}
      />
      <IssuedSecretDialog
        title={texts.issuedTitle(issued?.name ?? '')}
        secrets={issued === undefined ? [] : [{ name: issued.name, value: issued.secret }]}
        onClose={() => setIssued(undefined)}
      >
        {texts.issued}
      </IssuedSecretDialog>
      <ConfirmDialog
        isOpen={ending !== undefined}
        title={texts.endTitle(ending?.name ?? '')}
        label={texts.endLabel}
        isDanger
        isPending={end.isPending}
        error={end.error}
        onConfirm={() => ending !== undefined && end.mutate(ending)}
        onClose={() => setEnding(undefined)}
      >
        {texts.endHelp}
      </ConfirmDialog>
    </div>
  )
}

function columnsOf(
  mayManage: boolean,
  onEnd: (secret: EnrollmentSecret) => void,
): Column<EnrollmentSecret>[] {
  return [
    {
      id: 'name',
      header: texts.name,
      narrow: true,
      width: 'minmax(130px, 1.4fr)',
      cell: ({ name }) => <strong>{name}</strong>,
    },
    {
      id: 'state',
      header: texts.state,
      narrow: true,
      width: 'minmax(120px, 0.9fr)',
      cell: ({ state, unusual_use_at: unusual }) => (
        <StateBadge tone={unusual === null ? TONES[state] : 'warn'} isPlain>
          {unusual === null ? texts.states[state] : texts.unusual}
        </StateBadge>
      ),
    },
    { id: 'owner', header: texts.owner, cell: (secret) => secret.owner_email ?? texts.nobody },
    {
      id: 'uses',
      header: texts.uses,
      width: '80px',
      cell: ({ use_count: used, uses_max: max }) => (max === null ? used : `${used} / ${max}`),
    },
    {
      id: 'used',
      header: texts.lastUsed,
      width: '92px',
      cell: ({ last_used_at: at }) => <Time at={at} />,
    },
    {
      id: 'expires',
      header: texts.expires,
      width: '92px',
      cell: ({ expires_at: at }) => <Time at={at} />,
    },
    {
      id: 'actions',
      header: '',
      narrow: true,
      width: '60px',
      cell: (secret) =>
        mayManage && (secret.state === 'live' || secret.state === 'nearly_used_up') ? (
          <Group justify="flex-end">
            <Button size="compact-xs" variant="subtle" onClick={() => onEnd(secret)}>
              {texts.end}
            </Button>
          </Group>
        ) : null,
    },
  ]
}
