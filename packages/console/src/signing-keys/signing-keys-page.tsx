/* The keys that sign event tokens: which one signs, who has fetched it, and its rotation. */
import { Button } from '@mantine/core'
import { HistoryIcon, KeyIcon, SyncIcon } from '@primer/octicons-react'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { getSsfSigningKeys, postSsfSigningKeysRollback } from '../api/generated/sdk.gen.ts'
import { ActionDialog } from '../kit/confirm.tsx'
import { Page } from '../kit/page.tsx'
import { EmptyState, Loaded } from '../kit/states.tsx'
import { useMay } from '../shell/session.ts'
import { STREAMS_PERMISSION } from '../streams/stream-queries.ts'
import { RotateDialog } from './rotate-dialog.tsx'
import { SigningKeySection } from './signing-key-section.tsx'
import { texts } from './texts.ts'

export function SigningKeysPage() {
  const query = useQuery({
    queryKey: ['ssf_signing_keys', 'list'],
    queryFn: async ({ signal }) =>
      (await getSsfSigningKeys({ query: { per_page: 100 }, signal, throwOnError: true })).data,
    refetchInterval: 30_000,
  })
  const [dialog, setDialog] = useState<'rotate' | 'rollback'>()
  const may = useMay(STREAMS_PERMISSION)
  const close = () => setDialog(undefined)
  return (
    <Page
      title={texts.title}
      lead={texts.lead}
      actions={
        <>
          <Button
            variant="default"
            leftSection={<HistoryIcon />}
            disabled={!may || (query.data?.data.length ?? 0) < 2}
            onClick={() => setDialog('rollback')}
          >
            {texts.rollback}
          </Button>
          <Button leftSection={<SyncIcon />} disabled={!may} onClick={() => setDialog('rotate')}>
            {texts.rotate}
          </Button>
        </>
      }
    >
      <Loaded query={query} height={320}>
        {({ data: keys }) =>
          keys.length === 0 ? (
            <EmptyState icon={KeyIcon} title={texts.none}>
              {texts.noneHelp}
            </EmptyState>
          ) : (
            keys.toReversed().map((key) => <SigningKeySection key={key.id} signingKey={key} />)
          )
        }
      </Loaded>
      <RotateDialog isOpen={dialog === 'rotate'} onClose={close} />
      <RollbackDialog isOpen={dialog === 'rollback'} onClose={close} />
    </Page>
  )
}

interface DialogProps {
  readonly isOpen: boolean
  readonly onClose: () => void
}

function RollbackDialog({ isOpen, onClose }: DialogProps) {
  return (
    <ActionDialog
      isOpen={isOpen}
      title={texts.rollbackTitle}
      label={texts.rollback}
      isDanger
      run={() => postSsfSigningKeysRollback({ throwOnError: true })}
      done={texts.rolledBackDone}
      changes={[['ssf_signing_keys'], ['ssf_streams']]}
      onClose={onClose}
    >
      {texts.rollbackHelp}
    </ActionDialog>
  )
}
