"""Random words, labels, and values in five languages. Only their shapes matter: the network reads no letters."""

from __future__ import annotations

from random import Random

_LABELS = {
    "en": "Name;Patient;Patient name;Date of birth;DOB;Age;Sex;MRN;UHID;IP No.;Visit;Ward;Bed;Room;Ref. by;Physician;"
    "Collected;Received;Reported;Phone;Address;Insurance;Policy no.;Group;Accession;Specimen;Diagnosis;Allergies;"
    "Height;Weight;Blood group;Admitted;Discharged;Next of kin;Employer;Occupation;Department;Account;Study;Modality",
    "es": "Nombre;Paciente;Fecha de nacimiento;Edad;Sexo;Historia clínica;Cama;Médico;Servicio;Teléfono;Domicilio;"
    "Seguro;Póliza;Muestra;Ingreso;Alta;Diagnóstico;Alergias;Peso;Talla;Solicitado por;N.º de episodio;Documento",
    "de": "Name;Vorname;Geburtsdatum;Alter;Geschlecht;Fallnummer;Station;Zimmer;Hausarzt;Telefon;Anschrift;Kasse;"
    "Versichertennummer;Aufnahme;Entlassung;Diagnose;Größe;Gewicht;Einsender;Eingang;Auftragsnummer;Befunddatum",
    "fr": "Nom;Prénom;Né(e) le;Âge;Sexe;N° de dossier;Service;Chambre;Médecin;Téléphone;Adresse;Mutuelle;N° de sécurité"
    " sociale;Prélevé le;Reçu le;Édité le;Diagnostic;Allergies;Poids;Taille;Admission;Sortie;Prescripteur",
    "ar": "الاسم;اسم المريض;تاريخ الميلاد;العمر;الجنس;رقم الملف;القسم;الغرفة;الطبيب;الهاتف;العنوان;التأمين;رقم الوثيقة;"
    "تاريخ الدخول;تاريخ الخروج;التشخيص;الحساسية;الوزن;الطول;فصيلة الدم;رقم الهوية",
}
_WORDS = {
    "en": "the patient was seen in clinic with mild pain and no fever after a fall at home on examination abdomen soft "
    "chest clear blood pressure stable continue current treatment review in two weeks return if symptoms worsen normal "
    "range no evidence of acute fracture findings consistent with chronic change advised rest fluids and follow up",
    "es": "el paciente acude a consulta por dolor leve sin fiebre tras caída en domicilio exploración abdomen blando "
    "auscultación normal tensión arterial estable continuar tratamiento actual revisión en dos semanas sin hallazgos",
    "de": "der Patient stellte sich mit leichten Schmerzen ohne Fieber nach Sturz vor Untersuchung Bauch weich Lunge "
    "frei Blutdruck stabil Behandlung fortsetzen Wiedervorstellung in zwei Wochen kein Nachweis einer Fraktur Befund",
    "fr": "le patient consulte pour une douleur légère sans fièvre après une chute à domicile examen abdomen souple "
    "auscultation normale tension stable poursuivre le traitement contrôle dans deux semaines sans anomalie visible",
    "ar": "حضر المريض إلى العيادة بسبب ألم خفيف دون حرارة بعد سقوط في المنزل الفحص البطن لين الصدر سليم ضغط الدم مستقر "
    "الاستمرار على العلاج الحالي المراجعة بعد أسبوعين لا يوجد كسر حاد النتائج طبيعية",
}
_NAMES = {
    "en": "Ann Brown;Marcus Webb;Priya Nair;Tomás Ruiz;Evelyn O'Shea;K. Lindqvist;Jo Park;Daniel Okafor;Mei Tan",
    "es": "Lucía Herrera;Andrés Molina;Carmen Soto;Iván Prieto;M.ª José Lago;Pablo Quintana",
    "de": "Jürgen Voss;Heike Brandt;Sabine Köhler;Uwe Lang;Anneliese Roth;Dr. K. Meißner",
    "fr": "Claire Dubois;Hugo Lefèvre;Élodie Martin;Yves Caron;Nadia Benali;Luc Moreau",
    "ar": "أحمد السيد;فاطمة الزهراء;خالد المنصوري;ليلى حداد;يوسف ناصر;مريم العلي",
}
_PLACES = {
    "en": "Northgate Hospital;Cedar Valley Medical Center;St. Bride's Clinic;Harbor Imaging;Lakeside Family Practice;"
    "Apex Diagnostics;Riverbend Laboratories;Green Cross Pharmacy;Summit Health Plan;Willow Street Surgery",
    "es": "Hospital del Valle;Clínica Santa Rosa;Laboratorio Central;Centro Médico Los Pinos;Farmacia del Puerto",
    "de": "Klinikum Waldau;Praxis am Markt;Labor Dr. Stein;Universitätsklinik Nordheim;Städtisches Krankenhaus",
    "fr": "Hôpital Saint-Louis;Clinique des Tilleuls;Laboratoire Biomed;Cabinet du Parc;Centre d'imagerie",
    "ar": "مستشفى النور;عيادة الشفاء;مركز الأمل الطبي;مختبر الحياة;المستشفى العام",
}
_TITLES = {
    "en": "Laboratory Report;Discharge Summary;Radiology Report;Patient Registration;Prescription;Referral;Consent;"
    "Claim Form;Medication Chart;Operative Note;Certificate;Invoice;Vital Signs;Complete Blood Count;Final Report",
    "es": "Informe de laboratorio;Informe de alta;Receta médica;Consentimiento;Hemograma;Factura;Hoja de evolución",
    "de": "Laborbefund;Entlassbrief;Arztbrief;Rezept;Überweisung;Einwilligung;Rechnung;Medikationsplan;Befundbericht",
    "fr": "Compte rendu;Ordonnance;Bilan biologique;Lettre de sortie;Consentement;Facture;Certificat médical",
    "ar": "تقرير المختبر;تقرير الخروج;وصفة طبية;نموذج موافقة;فاتورة;تقرير الأشعة",
}
_TESTS = {
    "en": "Glucose;Sodium;Potassium;Urea;Creatinine;Hemoglobin;Platelets;White cells;Cholesterol;Albumin;ALT;TSH;"
    "Metformin 500 mg;Ramipril 5 mg;Amlodipine;Paracetamol;Amoxicillin;Consultation;X-ray, chest;Dressing;Room charge",
    "es": "Glucosa;Sodio;Potasio;Urea;Creatinina;Hemoglobina;Plaquetas;Leucocitos;Colesterol;Omeprazol 20 mg",
    "de": "Glukose;Natrium;Kalium;Harnstoff;Kreatinin;Hämoglobin;Thrombozyten;Leukozyten;Cholesterin;Pantoprazol 40 mg",
    "fr": "Glycémie;Sodium;Potassium;Urée;Créatinine;Hémoglobine;Plaquettes;Leucocytes;Cholestérol;Doliprane 1 g",
    "ar": "سكر الدم;صوديوم;بوتاسيوم;يوريا;كرياتينين;هيموغلوبين;صفائح;كوليسترول;باراسيتامول",
}
_HEADS = {
    "en": "Test;Result;Flag;Unit;Range;Date;Dose;Route;Frequency;Qty;Amount;Code;Description;Time;Status;Lab;Method;BP",
    "es": "Prueba;Resultado;Unidad;Referencia;Fecha;Dosis;Vía;Pauta;Importe;Código;Descripción;Hora;Estado",
    "de": "Untersuchung;Ergebnis;Einheit;Referenz;Datum;Dosis;Morgens;Mittags;Abends;Betrag;Ziffer;Uhrzeit;Status",
    "fr": "Analyse;Résultat;Unité;Référence;Date;Dose;Voie;Fréquence;Montant;Code;Heure;Statut",
    "ar": "الفحص;النتيجة;الوحدة;المرجع;التاريخ;الجرعة;التكرار;المبلغ;الرمز;الحالة",
}
LANGUAGES = tuple(_LABELS)


class Words:
    """A source of words in one language."""

    def __init__(self, rng: Random, language: str) -> None:
        self.rng = rng
        self.language = language

    def _one(self, table: dict[str, str]) -> str:
        return self.rng.choice(table[self.language].split(";"))

    def label(self) -> str:
        return self._one(_LABELS)

    def name(self) -> str:
        return self._one(_NAMES)

    def place(self) -> str:
        return self._one(_PLACES)

    def title(self) -> str:
        return self._one(_TITLES)

    def test(self) -> str:
        return self._one(_TESTS)

    def head(self) -> str:
        return self._one(_HEADS)

    def phrase(self, least: int, most: int) -> str:
        """A run of words."""
        words = _WORDS[self.language].split()
        start = self.rng.randrange(len(words))
        count = self.rng.randint(least, most)
        return " ".join((words * (2 + count // len(words)))[start : start + count])

    def sentences(self, least: int, most: int) -> str:
        """Sentences, in a row."""
        made = [self.phrase(5, 18) for _ in range(self.rng.randint(least, most))]
        return " ".join(each[0].upper() + each[1:] + "." for each in made)

    def date(self) -> str:
        day, month, year = self.rng.randint(1, 28), self.rng.randint(1, 12), self.rng.randint(1930, 2029)
        form = self.rng.choice(("{d:02}/{m:02}/{y}", "{y}-{m:02}-{d:02}", "{d}.{m}.{y}", "{d} {n} {y}"))
        month_name = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split()[month - 1]
        return form.format(d=day, m=month, y=year, n=month_name)

    def number(self) -> str:
        """A number of a person, sample, or document."""
        prefix = self.rng.choice(("", "", "", "MR-", "A", "H/", "LAB", "N° "))
        return prefix + "".join(self.rng.choice("0123456789") for _ in range(self.rng.randint(3, 11)))

    def phone(self) -> str:
        return f"+{self.rng.randint(1, 99)} {self.rng.randint(100, 999)} {self.rng.randint(1000, 99999)}"

    def address(self) -> str:
        street = self.phrase(1, 2).title()
        return f"{self.rng.randint(1, 999)} {street}, {self.phrase(1, 1).title()} {self.rng.randint(1000, 99999)}"

    def contact(self) -> str:
        """An address, number, or site of an institute."""
        site = "".join(self.rng.choice("abcdefghilmnoprstu") for _ in range(self.rng.randint(5, 12)))
        return self.rng.choice(
            (
                self.address(), self.place(), "Tel " + self.phone(), "Fax " + self.phone(), "Tel: " + self.phone(),
                f"www.{site}.test", f"info@{site}.test", f"E-mail: info@{site}.test",
            )
        )  # fmt: skip

    def value(self) -> str:
        """The value of a field."""
        kind = self.rng.random()
        if kind < 0.25:
            return self.name()
        if kind < 0.45:
            return self.date()
        if kind < 0.65:
            return self.number()
        if kind < 0.75:
            return self.address()
        if kind < 0.85:
            return f"{self.rng.randint(1, 99)} {self.rng.choice(('y', 'kg', 'cm', 'M', 'F', 'mg'))}"
        return self.phrase(1, 4)

    def cell(self) -> str:
        """The content of a cell of a table."""
        kind = self.rng.random()
        if kind < 0.45:
            return f"{self.rng.uniform(0, 300):.{self.rng.randint(0, 2)}f}"
        if kind < 0.6:
            low = self.rng.uniform(0, 100)
            return f"{low:.1f} - {low * self.rng.uniform(1.2, 3):.1f}"
        if kind < 0.7:
            return self.rng.choice(("mg/dL", "mmol/L", "g/L", "%", "U/L", "10^9/L"))
        if kind < 0.8:
            return self.date()
        if kind < 0.88:
            return self.rng.choice(("H", "L", "", "+", "-", "x", "ok"))
        return self.phrase(1, 3)
