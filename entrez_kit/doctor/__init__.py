"""Find problems of entrez-kit on this computer: check the settings, the folders and each hop to a service."""

from entrez_kit.doctor.diagnosis import diagnose
from entrez_kit.doctor.report import Check, DoctorReport

__all__ = ["Check", "DoctorReport", "diagnose"]
