/* Drafts of checks. */
import { Button, Group, Modal, Stack, TextInput } from '@mantine/core'
import { BeakerIcon, PlusIcon } from '@primer/octicons-react'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { getCustomCheckDrafts, postCustomCheckDrafts } from '../../api/generated/sdk.gen.ts'
import type { CustomCheckDraft } from '../../api/generated/types.gen.ts'
import { Fault } from '../../kit/confirm.tsx'
import { DataTable, type Column } from '../../kit/data-table.tsx'
import { Page } from '../../kit/page.tsx'
import { SearchBar } from '../../kit/search-bar.tsx'
import { EmptyState } from '../../kit/states.tsx'
import { Time } from '../../kit/time.tsx'
import { useAction } from '../../kit/use-action.ts'
import { useList } from '../../kit/use-list.ts'
import { useMay } from '../../shell/session.ts'
import { DraftState } from './draft-state.tsx'
import { texts } from './texts.ts'

const COLUMNS: readonly Column<CustomCheckDraft>[] = [
  {
    id: 'name',
    header: texts.name,
    narrow: true,
    width: 'minmax(160px, 1.6fr)',
    cell: ({ id, name }) => (
      <Link to="/checks/drafts/$id" params={{ id }}>
        {name}
      </Link>
    ),
  },
  {
    id: 'state',
    header: texts.state,
    narrow: true,
    width: '190px',
    cell: (draft) => <DraftState draft={draft} />,
  },
  {
    id: 'changed',
    header: texts.changed,
    width: '120px',
    cell: ({ updated_at: at }) => <Time at={at} />,
  },
]

export function DraftsPage() {
  const { query = '' } = useSearch({ from: '/frame/checks/drafts' })
  const navigate = useNavigate()
  const may = useMay('Manage Checks')
  const [isCreating, setCreating] = useState(false)
  const list = useList(['custom_check_drafts', 'list'], (page) => getCustomCheckDrafts(page), query)
  const open = (id: string) => void navigate({ to: '/checks/drafts/$id', params: { id } })
  return (
    <Page
      title={texts.title}
      above={[{ label: texts.checks, to: '/checks' }]}
      actions={
        <Button
          leftSection={<PlusIcon />}
          disabled={!may}
          title={may ? undefined : texts.mayNot}
          onClick={() => setCreating(true)}
        >
          {texts.create}
        </Button>
      }
      isFilling
    >
      <DataTable
        name={texts.title}
        columns={COLUMNS}
        list={list}
        rowId={({ id }) => id}
        onOpen={({ id }) => open(id)}
        toolbar={
          <SearchBar
            path="/custom_check_drafts"
            value={query}
            fault={list.error?.message}
            onChange={(next) =>
              void navigate({
                to: '/checks/drafts',
                search: next === '' ? {} : { query: next },
                replace: true,
              })
            }
          />
        }
        empty={
          <EmptyState icon={BeakerIcon} title={texts.none}>
            {texts.noneHelp}
          </EmptyState>
        }
      />
      <CreateDialog isOpen={isCreating} onClose={() => setCreating(false)} onCreated={open} />
    </Page>
  )
}

interface CreateDialogProps {
  readonly isOpen: boolean
  readonly onClose: () => void
  readonly onCreated: (id: string) => void
}

function CreateDialog({ isOpen, onClose, onCreated }: CreateDialogProps) {
  const [name, setName] = useState('')
  const create = useAction({
    run: async () => (await postCustomCheckDrafts({ body: { name }, throwOnError: true })).data,
    done: texts.created,
    changes: [['custom_check_drafts'], ['checks']],
    onDone: ({ id }) => onCreated(id),
    showsFailure: true,
  })
  return (
    <Modal opened={isOpen} onClose={onClose} title={texts.create}>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          create.mutate()
        }}
      >
        <Stack gap="md">
          <TextInput
            label={texts.name}
            description={texts.createHelp}
            required
            maxLength={100}
            data-autofocus
            value={name}
            onChange={(event) => setName(event.currentTarget.value)}
          />
          <Fault error={create.error} />
          <Group justify="flex-end" gap="xs">
            <Button variant="default" onClick={onClose}>
              {texts.cancel}
            </Button>
            <Button type="submit" loading={create.isPending}>
              {texts.create}
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  )
}
