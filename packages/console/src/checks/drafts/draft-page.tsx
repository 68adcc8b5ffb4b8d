/* One draft: its editor, how ready each section is, a try on a device, and its publication. */
import { Button } from '@mantine/core'
import { RocketIcon, TrashIcon } from '@primer/octicons-react'
import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useParams } from '@tanstack/react-router'
import { useState } from 'react'
import {
  deleteCustomCheckDraftsById,
  getCustomCheckDraftsById,
  postCustomCheckDraftsByIdPublish,
} from '../../api/generated/sdk.gen.ts'
import type { CustomCheckDraft } from '../../api/generated/types.gen.ts'
import { ActionDialog } from '../../kit/confirm.tsx'
import { useHasUnsavedWork } from '../../kit/held-page.ts'
import { Page } from '../../kit/page.tsx'
import { Loaded } from '../../kit/states.tsx'
import { useMay } from '../../shell/session.ts'
import classes from '../checks.module.css'
import { DraftForm } from './draft-form.tsx'
import { DraftReadiness } from './draft-readiness.tsx'
import { DraftReader } from './draft-reader.tsx'
import { DraftState } from './draft-state.tsx'
import { DraftTrial } from './draft-trial.tsx'
import { texts } from './texts.ts'

export function DraftPage() {
  const { id } = useParams({ from: '/frame/checks/drafts/$id' })
  const query = useQuery({
    queryKey: ['custom_check_drafts', id],
    queryFn: async ({ signal }) =>
      (await getCustomCheckDraftsById({ path: { id }, signal, throwOnError: true })).data,
  })
  return <Loaded query={query}>{(draft) => <DraftDetails key={id} draft={draft} />}</Loaded>
}

function DraftDetails({ draft }: { readonly draft: CustomCheckDraft }) {
  const { id } = draft
  const may = useMay('Manage Checks')
  const hasUnsavedWork = useHasUnsavedWork()
  const navigate = useNavigate()
  const [dialog, setDialog] = useState<'publish' | 'delete'>()
  const close = () => setDialog(undefined)
  const changes = [['custom_check_drafts'], ['checks']] as const
  return (
    <Page
      title={draft.name}
      badge={<DraftState draft={draft} isPlain={false} />}
      above={[
        { label: texts.checks, to: '/checks' },
        { label: texts.title, to: '/checks/drafts' },
      ]}
      lead={may ? undefined : texts.mayNot}
      actions={
        <>
          {draft.custom_check_id === null ? null : (
            <Button component={Link} to={`/checks/${draft.custom_check_id}`} variant="default">
              {texts.open}
            </Button>
          )}
          <Button
            variant="default"
            leftSection={<TrashIcon />}
            disabled={!may}
            onClick={() => setDialog('delete')}
          >
            {texts.remove}
          </Button>
          <Button
            leftSection={<RocketIcon />}
            disabled={!may || !draft.publishable}
            onClick={() => setDialog('publish')}
          >
            {texts.publish}
          </Button>
        </>
      }
    >
      <div className={classes.columns}>
        <DraftForm draft={draft} isDisabled={!may} />
        <div className={classes.stack}>
          <DraftReadiness draft={draft} isUnsaved={hasUnsavedWork} />
          <DraftTrial draft={draft} />
          <DraftReader draft={draft} />
        </div>
      </div>
      <ActionDialog
        isOpen={dialog === 'publish'}
        title={texts.publishTitle}
        label={texts.publish}
        run={() => postCustomCheckDraftsByIdPublish({ path: { id }, throwOnError: true })}
        done={texts.publishedNotice}
        changes={changes}
        onClose={close}
      >
        {texts.publishHelp} {hasUnsavedWork ? texts.unsavedLeftOut : null}
      </ActionDialog>
      <ActionDialog
        isOpen={dialog === 'delete'}
        title={texts.removeTitle(draft.name)}
        label={texts.remove}
        isDanger
        run={() => deleteCustomCheckDraftsById({ path: { id }, throwOnError: true })}
        done={texts.removed}
        changes={changes}
        onDone={() => void navigate({ to: '/checks/drafts' })}
        onClose={close}
      >
        {texts.removeHelp}
      </ActionDialog>
    </Page>
  )
}
