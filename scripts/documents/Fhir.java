// Encode and validate FHIR R4 resources with HAPI (see fhir_corpus.py for the jars):
//     java -cp 'jars/*' scripts/documents/Fhir.java encode FILE...     parses each file and writes it again with HAPI
//     java -cp 'jars/*' scripts/documents/Fhir.java validate FILE...   prints the errors of each file, one per line

import ca.uhn.fhir.context.FhirContext;
import ca.uhn.fhir.context.support.DefaultProfileValidationSupport;
import ca.uhn.fhir.parser.IParser;
import ca.uhn.fhir.parser.StrictErrorHandler;
import ca.uhn.fhir.validation.FhirValidator;
import ca.uhn.fhir.validation.SingleValidationMessage;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import org.hl7.fhir.common.hapi.validation.support.CommonCodeSystemsTerminologyService;
import org.hl7.fhir.common.hapi.validation.support.InMemoryTerminologyServerValidationSupport;
import org.hl7.fhir.common.hapi.validation.support.ValidationSupportChain;
import org.hl7.fhir.common.hapi.validation.validator.FhirInstanceValidator;

public class Fhir {
    public static void main(String[] args) throws Exception {
        FhirContext context = FhirContext.forR4();
        IParser parser = context.newJsonParser().setPrettyPrint(true);
        parser.setParserErrorHandler(new StrictErrorHandler());
        parser.setOverrideResourceIdWithBundleEntryFullUrl(false);
        FhirValidator validator = context.newValidator();
        validator.registerValidatorModule(new FhirInstanceValidator(new ValidationSupportChain(
            new DefaultProfileValidationSupport(context), new CommonCodeSystemsTerminologyService(context),
            new InMemoryTerminologyServerValidationSupport(context))));
        for (String name : Arrays.copyOfRange(args, 1, args.length)) {
            String raw = Files.readString(Path.of(name));
            if (args[0].equals("encode")) {
                Files.writeString(Path.of(name), parser.encodeResourceToString(parser.parseResource(raw)) + "\n");
                continue;
            }
            for (SingleValidationMessage message : validator.validateWithResult(raw).getMessages()) {
                if (message.getSeverity().name().matches("ERROR|FATAL")) {
                    System.out.println(Path.of(name).getFileName() + "\t" + message.getLocationString() + "\t"
                        + message.getMessage().replace('\n', ' '));
                }
            }
        }
    }
}
