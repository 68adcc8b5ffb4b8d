import { Button } from '@mantine/core'
import { UndoIcon } from '@primer/octicons-react'
import { useState } from 'react'
import {
  getChecksByIdConfigurationsHistory,
  postChecksByIdConfigurationsUndo,
} from '../api/generated/sdk.gen.ts'
import type { CheckConfigurationChange } from '../api/generated/types.gen.ts'
import { ActionDialog } from '../kit/confirm.tsx'
import { Section } from '../kit/page.tsx'
import { ErrorState, StaleList } from '../kit/states.tsx'
import { Time, useNow } from '../kit/time.tsx'
import { useList } from '../kit/use-list.ts'
import { useMay } from '../shell/session.ts'
import classes from './checks.module.css'
import { texts } from './texts.ts'

/** Every change of the configuration, and the way back from the last one. */
export function ConfigurationHistory({ checkId }: { readonly checkId: string }) {
  const may = useMay('Manage Checks')
  const now = useNow()
  const [asked, setAsked] = useState<CheckConfigurationChange>()
  const list = useList(['checks', checkId, 'history'], (page) =>
    getChecksByIdConfigurationsHistory({ ...page, path: { id: checkId } }),
  )

  const changes = list.items
    .toSorted((one, other) => other.revision - one.revision)
    .map((change) => ({
      change,
      isUndoable: may && Date.parse(change.can_be_undone_until ?? '') > now,
    }))
  if (list.error !== null && list.items.length === 0)
    return <ErrorState error={list.error} onRetry={list.retry} />
  return (
    <Section
      title={texts.changesTitle}
      lead={changes.length === 0 ? texts.noChanges : texts.changesLead}
    >
      <StaleList list={list} />
      <ul className={classes.moves}>
        {changes.map(({ change, isUndoable }) => (
          <li key={change.id} className={classes.change}>
            <div>
              <b>{texts.revision(change.revision)}</b> · {change.actor_name} ·{' '}
              <Time at={change.changed_at} />
              {change.undoes_revision === null
                ? null
                : ` · ${texts.undoes(change.undoes_revision)}`}
              <Members change={change} />
            </div>
            {isUndoable ? (
              <Button variant="default" leftSection={<UndoIcon />} onClick={() => setAsked(change)}>
                {texts.undo}
              </Button>
            ) : null}
          </li>
        ))}
      </ul>
      {list.hasMore ? (
        <Button variant="subtle" loading={list.isLoadingMore} onClick={list.loadMore}>
          {texts.moreChanges}
        </Button>
      ) : null}
      <ActionDialog
        isOpen={asked !== undefined}
        title={texts.undoTitle}
        label={texts.undo}
        run={() =>
          postChecksByIdConfigurationsUndo({
            path: { id: checkId },
            ...(asked && { query: { revision: asked.revision } }),
            throwOnError: true,
          })
        }
        done={texts.undone}
        changes={[['checks'], ['overview'], ['devices'], ['issues']]}
        onClose={() => setAsked(undefined)}
      >
        {texts.undoHelp}
        {asked && <Members change={asked} />}
      </ActionDialog>
    </Section>
  )
}

function Members({ change: { before, after } }: { readonly change: CheckConfigurationChange }) {
  return (
    <ul className={classes.members}>
      {Object.keys(after).map((name) => (
        <li key={name}>
          <code>{name}</code> {texts.from} <del>{show(before[name])}</del> {texts.to}{' '}
          <ins>{show(after[name])}</ins>
        </li>
      ))}
    </ul>
  )
}

function show(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}
