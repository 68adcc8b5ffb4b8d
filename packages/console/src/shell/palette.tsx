/* The command palette: every place, by name or by other words for it. */
import { Spotlight, type SpotlightActionGroupData } from '@mantine/spotlight'
import { SearchIcon } from '@primer/octicons-react'
import { useNavigate } from '@tanstack/react-router'
import { useMemo } from 'react'
import { PLACES } from './navigation.ts'
import { texts } from './texts.ts'

export function Palette() {
  const navigate = useNavigate()
  const groups = useMemo(
    () =>
      PLACES.map(({ label, places }): SpotlightActionGroupData => ({
        group: label,
        actions: places.map(({ label: name, to, icon: Icon, key, words = '' }) => ({
          id: to,
          label: name,
          keywords: words.split(' '),
          leftSection: <Icon size={16} />,
          rightSection: key === undefined ? null : <kbd>g {key}</kbd>,
          onClick: () => void navigate({ to }),
        })),
      })),
    [navigate],
  )
  return (
    <Spotlight
      actions={groups}
      shortcut={['mod + K']}
      nothingFound={texts.paletteNothing}
      searchProps={{
        placeholder: texts.palette,
        leftSection: <SearchIcon />,
        'aria-label': texts.palette,
      }}
      scrollable
      maxHeight={420}
    />
  )
}
