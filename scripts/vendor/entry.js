// What the page needs of its libraries, and nothing else.
import cytoscape from "cytoscape";
import { Graph, layout } from "@dagrejs/dagre";

globalThis.Vendor = Object.freeze({ cytoscape, dagre: Object.freeze({ Graph, layout }) });
