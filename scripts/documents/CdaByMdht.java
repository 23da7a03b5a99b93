// Writes C-CDA documents with MDHT: java -cp 'LIB/*' CdaByMdht.java ccd|discharge|history NARRATIVE.txt OUT.xml
import java.io.FileOutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import org.openhealthtools.mdht.uml.cda.*;
import org.openhealthtools.mdht.uml.cda.consol.ConsolFactory;
import org.openhealthtools.mdht.uml.cda.consol.GeneralHeaderConstraints;
import org.openhealthtools.mdht.uml.cda.consol.ProblemConcernAct;
import org.openhealthtools.mdht.uml.cda.consol.ProblemObservation;
import org.openhealthtools.mdht.uml.cda.consol.ProblemSection;
import org.openhealthtools.mdht.uml.cda.util.CDAUtil;
import org.openhealthtools.mdht.uml.hl7.datatypes.*;
import org.openhealthtools.mdht.uml.hl7.vocab.*;

public class CdaByMdht {
    static final DatatypesFactory TYPES = DatatypesFactory.eINSTANCE;

    public static void main(String[] words) throws Exception {
        GeneralHeaderConstraints document = switch (words[0]) {
            case "ccd" -> ConsolFactory.eINSTANCE.createContinuityOfCareDocument().init();
            case "discharge" -> ConsolFactory.eINSTANCE.createDischargeSummary().init();
            default -> ConsolFactory.eINSTANCE.createHistoryAndPhysicalNote().init();
        };
        InfrastructureRootTypeId type = CDAFactory.eINSTANCE.createInfrastructureRootTypeId();
        type.setRoot("2.16.840.1.113883.1.3");
        type.setExtension("POCD_HD000040");
        document.setTypeId(type);
        document.setId(TYPES.createII("1.2.840.114350.1.13.99999.4567", "50" + words[0].length() + "71882"));
        document.setTitle(TYPES.createST("Summary for Odalys Brenneke"));
        document.setEffectiveTime(TYPES.createTS("20240305114500-0500"));
        document.setLanguageCode(TYPES.createCS("en-US"));
        PatientRole role = CDAFactory.eINSTANCE.createPatientRole();
        role.getIds().add(TYPES.createII("1.2.840.114350.1.13.99999.5", "E3847731"));
        AD address = TYPES.createAD();
        address.addStreetAddressLine("88 Quill Hollow Road").addCity("Marrowstone").addState("WA").addPostalCode("98358");
        role.getAddrs().add(address);
        role.getTelecoms().add(TYPES.createTEL("tel:(360)555-0148"));
        Patient patient = CDAFactory.eINSTANCE.createPatient();
        PN name = TYPES.createPN();
        name.addGiven("Odalys").addGiven("Maren").addFamily("Brenneke");
        patient.getNames().add(name);
        patient.setBirthTime(TYPES.createTS("19510719"));
        patient.setAdministrativeGenderCode(TYPES.createCE("F", "2.16.840.1.113883.5.1", "AdministrativeGender", "Female"));
        role.setPatient(patient);
        document.addPatientRole(role);
        Author author = CDAFactory.eINSTANCE.createAuthor();
        author.setTime(TYPES.createTS("20240305"));
        AssignedAuthor assigned = CDAFactory.eINSTANCE.createAssignedAuthor();
        assigned.getIds().add(TYPES.createII("2.16.840.1.113883.4.6", "1659870234"));
        Person person = CDAFactory.eINSTANCE.createPerson();
        PN clinician = TYPES.createPN();
        clinician.addGiven("Torvald").addFamily("Ashgrove").addSuffix("MD");
        person.getNames().add(clinician);
        assigned.setAssignedPerson(person);
        author.setAssignedAuthor(assigned);
        document.getAuthors().add(author);
        CustodianOrganization organization = CDAFactory.eINSTANCE.createCustodianOrganization();
        organization.getIds().add(TYPES.createII("2.16.840.1.113883.4.6", "1497758544"));
        ON practice = TYPES.createON();
        practice.addText("Marrowstone General Hospital");
        organization.setName(practice);
        AssignedCustodian keeper = CDAFactory.eINSTANCE.createAssignedCustodian();
        keeper.setRepresentedCustodianOrganization(organization);
        Custodian custodian = CDAFactory.eINSTANCE.createCustodian();
        custodian.setAssignedCustodian(keeper);
        document.setCustodian(custodian);
        ProblemSection section = ConsolFactory.eINSTANCE.createProblemSection().init();
        section.setTitle(TYPES.createST("Hospital course"));
        section.createStrucDocText(Files.readString(Path.of(words[1])));
        ProblemConcernAct act = ConsolFactory.eINSTANCE.createProblemConcernAct().init();
        act.getIds().add(TYPES.createII("7d3a9c52-1b7e-4a55-9f0a-5a4bb1f0c2d1"));
        ProblemObservation problem = ConsolFactory.eINSTANCE.createProblemObservation().init();
        problem.getIds().add(TYPES.createII("7d3a9c52-1b7e-4a55-9f0a-5a4bb1f0c2d2"));
        IVL_TS time = TYPES.createIVL_TS();
        IVXB_TS low = TYPES.createIVXB_TS();
        low.setValue("20120806");
        time.setLow(low);
        problem.setEffectiveTime(time);
        CD value = TYPES.createCD("195967001", "2.16.840.1.113883.6.96", "SNOMED CT", "Asthma");
        problem.getValues().add(value);
        act.addObservation(problem);
        section.addAct(act);
        document.addSection(section);
        try (FileOutputStream out = new FileOutputStream(words[2])) {
            CDAUtil.save(document, out);
        }
    }
}
