-- Devices with a serial or a hardware UUID are found by these in lower case, which are indexed for twins.
drop index device_serial;
drop index device_hardware_uuid;

-- The last change of compliance of a device is among its last changes, which are indexed.
drop index device_status_transition_compliance;
