// Writes HL7 v2.5 messages with HAPI: java -cp 'lib/*' Hl7.java FOLDER
// Each FOLDER/NAME.terser holds the structure, code and trigger (ORU_R01 ORU R01), then lines PATH<TAB>VALUE.
import ca.uhn.hl7v2.DefaultHapiContext;
import ca.uhn.hl7v2.HapiContext;
import ca.uhn.hl7v2.model.AbstractMessage;
import ca.uhn.hl7v2.util.Terser;
import java.io.File;
import java.nio.file.Files;

public class Hl7 {
    public static void main(String[] args) throws Exception {
        HapiContext context = new DefaultHapiContext();
        for (File file : new File(args[0]).listFiles((folder, name) -> name.endsWith(".terser"))) {
            var lines = Files.readAllLines(file.toPath());
            String[] head = lines.get(0).split(" ");
            var type = Class.forName("ca.uhn.hl7v2.model.v25.message." + head[0]);
            var message = (AbstractMessage) type.getDeclaredConstructor().newInstance();
            message.initQuickstart(head[1], head[2], "P");
            Terser terser = new Terser(message);
            for (String line : lines.subList(1, lines.size())) {
                String[] pair = line.split("\t", 2);
                terser.set(pair[0], pair[1].replace("\\n", "\n"));
            }
            String written = context.getPipeParser().encode(message);
            Files.writeString(new File(args[0], file.getName().replace(".terser", ".hl7")).toPath(), written);
        }
    }
}
