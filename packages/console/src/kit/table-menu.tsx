/* What can be done with a whole list, at the end of its toolbar: its columns and order, and its export. */
import { ActionIcon, Menu, Tooltip } from '@mantine/core'
import { ColumnsIcon, DownloadIcon } from '@primer/octicons-react'
import type { RowData } from '@tanstack/react-table'
import { useMutation } from '@tanstack/react-query'
import { useTableChoices } from './table-choices.ts'
import { texts } from './texts.ts'
import { showFailure } from './use-action.ts'
import type { useColumns } from './use-columns.ts'
import type { List } from './use-list.ts'

interface TableMenuProps<Item extends RowData> {
  readonly table: ReturnType<typeof useColumns<Item>>['table']
  readonly list: List<Item>
}

export function TableMenu<Item extends RowData>({ table, list: { source } }: TableMenuProps<Item>) {
  const columns = table.getAllLeafColumns()
  const first = columns.find((column) => column.getCanHide())
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <ActionIcon aria-label={texts.columns}>
          <ColumnsIcon size={16} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>{texts.shownColumns}</Menu.Label>
        {columns.map((column) => (
          <Menu.CheckboxItem
            key={column.id}
            // The keyboard goes on in the menu.
            data-autofocus={column === first || undefined}
            checked={column.getIsVisible()}
            disabled={!column.getCanHide()}
            onChange={() => column.toggleVisibility()}
          >
            {String(column.columnDef.header)}
          </Menu.CheckboxItem>
        ))}
        {source?.order === undefined ? null : (
          <OrderItems path={source.path} byDefault={source.order} />
        )}
      </Menu.Dropdown>
    </Menu>
  )
}

interface OrderItemsProps {
  readonly path: string
  readonly byDefault: 'asc' | 'desc'
}

function OrderItems({ path, byDefault }: OrderItemsProps) {
  const [{ order = byDefault }, choose] = useTableChoices(path)
  return (
    <>
      <Menu.Label>{texts.order}</Menu.Label>
      {(['desc', 'asc'] as const).map((each) => (
        <Menu.RadioItem
          key={each}
          value={each}
          checked={order === each}
          onChange={() => choose({ order: each })}
        >
          {texts.orders[each]}
        </Menu.RadioItem>
      ))}
    </>
  )
}

/** Saves everything that the search finds; only where the list is one of the API. */
export function ExportButton({ list }: { readonly list: List<unknown> }) {
  const { exportAll, source } = list
  const save = useMutation({ mutationFn: async () => exportAll?.(), onError: showFailure })
  if (exportAll === undefined || source === undefined) return null
  return (
    <Tooltip label={texts.exportHelp}>
      <ActionIcon
        aria-label={texts.exportAll}
        loading={save.isPending}
        onClick={() => save.mutate()}
      >
        <DownloadIcon size={16} />
      </ActionIcon>
    </Tooltip>
  )
}
