"""Invented strategies as published, in the syntax of every service."""

OVID = """Database: Ovid MEDLINE(R) ALL <1946 to March 01, 2021>
Search Strategy:
--------------------------------------------------------------------------------
1     exp Heart Failure/ (1234)
2     ((heart or cardiac) adj3 (failure or insufficien*)).ti,ab. (2,345)
3     "ventricular dysfunction".mp. [mp=title, book title, abstract] (87)
4     or/1-3 (3000)
5     exp Telemedicine/ or (tele?health or tele-monitor$ or ehealth).ti,ab,kf. (456)
6     (remote adj monitor*).tw. (77)
7     5 or 6 (500)
8     randomized controlled trial.pt. (12000)
9     (randomi#ed or placebo).ab. (23000)
10     drug therapy.fs. (99000)
11     or/8-10 (110000)
12     exp animals/ not humans.sh. (300)
13     11 not 12 (100000)
14     4 and 7 and 13 (42)
15     limit 14 to (english language and yr="2010 -Current") (23)

***************************
"""
OVID_UNNUMBERED = """exp Asthma/
(asthma$ or wheez$).ti,ab.
1 or 2
(inhal$ adj2 steroid$).tw.
exp Adrenal Cortex Hormones/ad, ae
4 or 5
and/3,6
limit 7 to ed=20150101-20160301
"""
OVID_WRAPPED = """1. exp Diabetes Mellitus,
Type 2/
2. (non insulin
dependent adj2 diabet*).ti,
ab.
2010 was the year of the first search
3. or/1-2
"""
OVID_COLUMN = "1\nexp Asthma/\n1234\n2\nwheez$.tw.\n99\n3\n1 or 2\n"
PUBMED = """#1 “Asthma”[Mesh] OR asthma*[tiab] 12,345
#2 (child[tiab] or children[tiab]) 99
#3 #1 AND #2 7
"""
PUBMED_BLOCKS = """1. Population: people with asthma
"Asthma"[mh] OR asthma*[tiab]
OR wheez*[tiab]
2. Intervention: telemedicine
"Telemedicine"[mh] OR telehealth[tiab]
Search combination
1 AND 2
"""
EMBASE = """#1 'heart failure'/exp OR (heart NEAR/3 failure):ti,ab
#2 telehealth:ti,ab,kw
#3 #1 AND #2 AND [english]/lim
"""
EBSCO = """S1\t(MH "Heart Failure+")\t1,234
S2\tTI ( heart N3 failure ) OR AB ( heart N3 failure )\t99
S3\tS1 OR S2\t1,300
Limiters - Published Date: 20100101-20201231
S4\tTX p#ediatric AND S3\t12
"""
WOS = """#1 TS=(heart NEAR/3 failure)
#2 TI=(telehealth OR tele$monitor*)
#3 #1 AND #2
"""
SCOPUS = """1 TITLE-ABS-KEY ( "heart failure" W/3 monitor* )
2 TITLE ( tele* ) AND PUBYEAR > 2009
3 #1 AND #2
"""
COCHRANE = """Search Name: Heart
Date Run: 01/02/2021
ID Search Hits
#1 MeSH descriptor: [Heart Failure] explode all trees 1234
#2 (heart near/3 failure):ti,ab,kw (Word variations have been searched) 999
#3 [mh ^"Telemedicine"] or telehealth next monitor*:ti,ab 12
#4 {or #1-#2} and #3 with Publication Year from 2010 to 2020, in Trials 3
"""
EMBASE_FALLING = """Embase Session Results
No. Query Results Results Date
#4. #1 AND #2 AND [humans]/lim 123 5 Mar 2021
#3. #1 AND #2 200 5 Mar 2021
#2. (randomi?ed NEAR/2 trial*):ab,ti 10,000 5 Mar 2021
#1. asthma*:ab,ti,kw OR 'lung function':ti 5,000 5 Mar 2021
"""
EBSCO_FALLING = """S5 S3 AND S4 Limiters - Published Date: 20100101-20201231; English Language Expanders - Some 23
S4 (MH "Nurses+") 100
S3 S1 OR S2 300
S2 TI pain N2 (acute OR chronic) 50
S1 (MH "Pain+") OR (MM "Analgesia") 200
"""
OVID_PRINTED = """# ▲ Searches Results Type Actions
1 exp Stroke/ 150,234 Advanced
2 (stroke* or "cerebrovascular accident*" or cva).ti,ab,kf. 300,000 Advanced
3 1 or 2 350,000 Advanced
"""
PUBMED_HISTORY = """Search number,Query,Sort By,Filters,Search Details,Results,Time
3,"#1 AND #2",,,"asthma",12,04:01:02
2,"child*[tiab]",,,"child*","1,100",04:01:01
1,"asthma[mesh]",,,"asthma",50,04:01:00
"""
PUBMED_LINES = """("Asthma"[Mesh] OR asthma[tiab])
AND
("Child"[Mesh] OR child*[tiab])
NOT ("Animals"[Mesh] NOT "Humans"[Mesh])
"""
TABLE = """# Appendix

| # | Search | Results |
|---|--------|---------|
| 1 | exp Asthma/ | 1,234 |
| 2 | wheez$.tw. | 99 |
| 3 | 1 or 2 | 1,300 |
"""
ALL = {
    name: value
    for name, value in list(globals().items())
    if name.isupper() and isinstance(value, str) and not name.startswith("_")
}
