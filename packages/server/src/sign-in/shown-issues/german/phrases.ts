/* Steps that several checks have in common, in German. */

export const ADMIN_TERMINAL =
  'Öffnen Sie **Start**, tippen Sie `Terminal`, klicken Sie mit der rechten Taste darauf und wählen Sie **Als Administrator ausführen**.'
export const EXEMPTION = 'Brauchen Sie es für Ihre Arbeit, beantragen Sie eine Ausnahme.'
export const SHARING =
  'Öffnen Sie das Apple-Menü > **Systemeinstellungen** > **Allgemein** > **Teilen**.'
