/* Saves what is shown of a list as a view; renames, shares, replaces and deletes views. */
import { Button, Checkbox, Group, Modal, Stack, Switch, Text, TextInput } from '@mantine/core'
import { useState } from 'react'
import { fieldFaultsOf } from '../api/client.ts'
import {
  deleteSavedViewsById,
  patchSavedViewsById,
  postSavedViews,
} from '../api/generated/sdk.gen.ts'
import type { SavedView } from '../api/generated/types.gen.ts'
import { ConfirmDialog, DialogForm } from './confirm.tsx'
import type { ShownView } from './saved-view-query.ts'
import { texts } from './texts.ts'
import { useAction } from './use-action.ts'

interface SaveViewDialogProps {
  readonly shown: ShownView
  readonly isOpen: boolean
  readonly onClose: () => void
}

export function SaveViewDialog({ shown, isOpen, onClose }: SaveViewDialogProps) {
  return (
    <Modal opened={isOpen} onClose={onClose} title={texts.saveViewTitle}>
      <ViewForm shown={shown} onClose={onClose} />
    </Modal>
  )
}

interface ViewFormProps {
  /** The view that is changed; a new one is saved when left out. */
  readonly view?: SavedView
  readonly shown: ShownView
  readonly onClose: () => void
}

function ViewForm({ view, shown, onClose }: ViewFormProps) {
  const [name, setName] = useState(view?.name ?? '')
  const [isShared, setShared] = useState(view?.shared ?? false)
  const [isReplaced, setReplaced] = useState(view === undefined)
  const save = useAction({
    run: async () => {
      const { list, ...said } = { ...shown, columns: shown.columns && [...shown.columns] }
      const own = { name: name.trim(), shared: isShared }
      if (view === undefined) {
        await postSavedViews({ body: { ...own, ...said, list }, throwOnError: true })
        return
      }
      const body = { ...own, ...(isReplaced ? said : {}) }
      await patchSavedViewsById({ path: { id: view.id }, body, throwOnError: true })
    },
    done: texts.viewSaved,
    changes: [['saved_views']],
    showsFailure: true,
    onDone: onClose,
  })
  const faults = fieldFaultsOf(save.error)
  return (
    <DialogForm
      label={view === undefined ? texts.saveViewLabel : texts.save}
      isChanged={name !== (view?.name ?? '')}
      isIncomplete={name.trim() === ''}
      isPending={save.isPending}
      error={faults === null ? save.error : null}
      onSubmit={() => save.mutate()}
      onClose={onClose}
    >
      <TextInput
        label={texts.viewName}
        value={name}
        error={faults?.['name']}
        maxLength={80}
        onChange={(event) => setName(event.currentTarget.value)}
        data-autofocus
        required
      />
      <Switch
        label={texts.shareView}
        description={texts.shareViewHelp}
        checked={isShared}
        onChange={(event) => setShared(event.currentTarget.checked)}
      />
      {view === undefined ? null : (
        <Checkbox
          label={texts.replaceView}
          description={texts.replaceViewHelp}
          checked={isReplaced}
          onChange={(event) => setReplaced(event.currentTarget.checked)}
        />
      )}
    </DialogForm>
  )
}

interface ManageViewsDialogProps extends SaveViewDialogProps {
  readonly views: readonly SavedView[]
}

export function ManageViewsDialog({ isOpen, onClose, ...managed }: ManageViewsDialogProps) {
  const [deleted, setDeleted] = useState<SavedView>()
  return (
    <Modal
      opened={isOpen}
      onClose={onClose}
      title={texts.manageViewsTitle}
      size={560}
      // Escape closes the question over it alone.
      closeOnEscape={deleted === undefined}
    >
      <ViewRows {...managed} deleted={deleted} setDeleted={setDeleted} />
    </Modal>
  )
}

interface ViewRowsProps extends Pick<ManageViewsDialogProps, 'views' | 'shown'> {
  /** The view of which it is asked whether it is deleted. */
  readonly deleted: SavedView | undefined
  readonly setDeleted: (view: SavedView | undefined) => void
}

function ViewRows({ views, shown, deleted, setDeleted }: ViewRowsProps) {
  const [edited, setEdited] = useState<SavedView>()
  const remove = useAction({
    run: async ({ id }: SavedView) => deleteSavedViewsById({ path: { id }, throwOnError: true }),
    changes: [['saved_views']],
    showsFailure: true,
    onDone: () => setDeleted(undefined),
  })
  if (edited !== undefined) {
    return <ViewForm view={edited} shown={shown} onClose={() => setEdited(undefined)} />
  }
  return (
    <Stack gap="sm">
      {views.map((view) => (
        <Group key={view.id} justify="space-between" wrap="nowrap" gap="md">
          <div style={{ minWidth: 0 }}>
            <Text size="sm" truncate>
              {view.name}
            </Text>
            <Text size="xs" c="dimmed">
              {view.shared ? texts.sharedBy(view.owner_name) : texts.onlyYours}
            </Text>
          </div>
          <Group gap="xs" wrap="nowrap">
            <Button
              size="xs"
              variant="default"
              disabled={!view.may_change}
              aria-label={texts.editView(view.name)}
              onClick={() => setEdited(view)}
            >
              {texts.edit}
            </Button>
            <Button
              size="xs"
              variant="default"
              disabled={!view.may_change}
              aria-label={texts.deleteView(view.name)}
              onClick={() => setDeleted(view)}
            >
              {texts.delete}
            </Button>
          </Group>
        </Group>
      ))}
      {views.length === 0 ? <Text size="sm">{texts.noViews}</Text> : null}
      {views.some((view) => !view.may_change) ? (
        <Text size="xs" c="dimmed">
          {texts.viewOfOthers}
        </Text>
      ) : null}
      <ConfirmDialog
        isOpen={deleted !== undefined}
        title={texts.deleteViewTitle(deleted?.name ?? '')}
        label={texts.deleteViewLabel}
        isDanger
        isPending={remove.isPending}
        error={remove.error}
        onConfirm={() => {
          if (deleted !== undefined) remove.mutate(deleted)
        }}
        onClose={() => setDeleted(undefined)}
      >
        {deleted?.shared === true ? texts.deleteSharedHelp : texts.deleteOwnHelp}
      </ConfirmDialog>
    </Stack>
  )
}
