-- Devices are found by their model and their system, of which there are few and which change when a device enrolls, with all
-- of its index entries. Entries for one text are kept together. A text may be longer than an entry.
create index device_hardware_model on device (left(hardware_model, 64));
create index device_operating_system on device (left(operating_system, 64));
