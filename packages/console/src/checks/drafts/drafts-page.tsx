/* Drafts of checks. */
import { Modal, TextInput } from '@mantine/core'
import { BeakerIcon } from '@primer/octicons-react'
import { Link, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { getCustomCheckDrafts, postCustomCheckDrafts } from '../../api/generated/sdk.gen.ts'
import type { CustomCheckDraft } from '../../api/generated/types.gen.ts'
import { DialogForm } from '../../kit/confirm.tsx'
import { CreateButton } from '../../kit/create-button.tsx'
import { DataTable, type Column } from '../../kit/data-table.tsx'
import { Page } from '../../kit/page.tsx'
import { SearchBar } from '../../kit/search-bar.tsx'
import { EmptyState } from '../../kit/states.tsx'
import { Time } from '../../kit/time.tsx'
import { useAction } from '../../kit/use-action.ts'
import { useAddressSearch } from '../../kit/use-address-search.ts'
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
    width: 'minmax(140px, 190px)',
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
  const { query, search } = useAddressSearch()
  const navigate = useNavigate()
  const may = useMay('Manage Checks')
  const [isCreating, setCreating] = useState(false)
  const list = useList(['custom_check_drafts', 'list'], (page) => getCustomCheckDrafts(page), query)
  const stopCreating = () => setCreating(false)
  const open = (id: string) => void navigate({ to: '/checks/drafts/$id', params: { id } })
  return (
    <Page
      title={texts.title}
      above={[{ label: texts.checks, to: '/checks' }]}
      actions={
        <CreateButton may={may} refusal={texts.mayNot} onClick={() => setCreating(true)}>
          {texts.create}
        </CreateButton>
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
            fault={list.searchFault}
            onChange={search}
          />
        }
        empty={
          <EmptyState icon={BeakerIcon} title={texts.none}>
            {texts.noneHelp}
          </EmptyState>
        }
      />
      <Modal opened={isCreating} onClose={stopCreating} title={texts.create}>
        <CreateForm onClose={stopCreating} onCreated={open} />
      </Modal>
    </Page>
  )
}

interface CreateFormProps {
  readonly onClose: () => void
  readonly onCreated: (id: string) => void
}

function CreateForm({ onClose, onCreated }: CreateFormProps) {
  const [name, setName] = useState('')
  const create = useAction({
    run: async () => (await postCustomCheckDrafts({ body: { name }, throwOnError: true })).data,
    done: texts.created,
    changes: [['custom_check_drafts'], ['checks']],
    onDone: ({ id }) => onCreated(id),
    showsFailure: true,
  })
  return (
    <DialogForm
      label={texts.create}
      isChanged={name !== ''}
      isPending={create.isPending}
      error={create.error}
      onSubmit={() => create.mutate()}
      onClose={onClose}
    >
      <TextInput
        label={texts.name}
        description={texts.createHelp}
        required
        maxLength={100}
        data-autofocus
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
      />
    </DialogForm>
  )
}
